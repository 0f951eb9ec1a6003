SELECT seq, job_sha256, take FROM jobs WHERE job_id = ?
