SELECT seq FROM jobs INDEXED BY jobs_lane_object
WHERE object_id = ? AND occupies = 1 AND seq < ? ORDER BY seq DESC LIMIT 1
