SELECT seq FROM jobs INDEXED BY jobs_lane_path
WHERE vault_path = ? AND occupies = 1 AND seq < ? ORDER BY seq DESC LIMIT 1
