SELECT count(*) FROM files
