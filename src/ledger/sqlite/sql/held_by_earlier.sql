SELECT seq FROM jobs INDEXED BY jobs_held WHERE binding = ? AND epoch < ? ORDER BY seq
