INSERT INTO job_bodies (seq, bytes) VALUES (?, ?)
