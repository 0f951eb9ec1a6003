INSERT OR FAIL INTO job_bodies (seq, bytes) VALUES (?, ?)
