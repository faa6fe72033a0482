-- The process that serves this session; its parent is the server.
SELECT pid, 'postgres', extract(epoch FROM clock_timestamp() - backend_start)::float8, NULL::int FROM pg_stat_activity WHERE pid = pg_backend_pid()
