-- The process of this session, its age in seconds, the data directory, and the cluster.
SELECT pid, extract(epoch FROM clock_timestamp() - backend_start)::float8,
	coalesce((SELECT setting FROM pg_settings WHERE name = 'data_directory'), ''),
	(SELECT system_identifier::text FROM pg_control_system()), pg_is_in_recovery()
FROM pg_stat_activity WHERE pid = pg_backend_pid()
