-- The process that serves the session, its age in seconds, and its client as the process's title has it: a server elsewhere may
-- have a process of the same number and age.
SELECT pid, extract(epoch FROM clock_timestamp() - backend_start)::float8,
	CASE WHEN client_port < 0 THEN '[local]' ELSE format('(%s)', client_port) END
FROM pg_stat_activity WHERE pid = pg_backend_pid()
