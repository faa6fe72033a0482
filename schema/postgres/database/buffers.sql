-- The blocks of shared_buffers and of the database, and what all databases have read so far.
SELECT (SELECT setting::float8 FROM pg_settings WHERE name = 'shared_buffers'),
	pg_database_size(current_database()) / current_setting('block_size')::float8,
	(SELECT sum(blks_read)::float8 FROM pg_stat_database)
