-- By how many bytes the log may grow until checkpoints hold it, and whether the user is hidden where the server's files are.
SELECT pg_size_bytes(current_setting('max_wal_size')), NOT pg_has_role(current_user, 'pg_monitor', 'USAGE')
