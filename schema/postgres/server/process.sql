-- The process that serves this session; its parent is the server.
SELECT pg_backend_pid(), 'postgres'
