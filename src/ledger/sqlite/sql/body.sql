SELECT bytes FROM job_bodies WHERE seq = ?
