-- The log of the cluster, and the sessions of others that are at work, where they are shown.
SELECT 'log_bytes_total', pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8
UNION ALL
SELECT 'other_sessions', count(*)::float8 FROM pg_stat_activity
WHERE backend_type = 'client backend' AND state = 'active' AND application_name NOT LIKE 'ds2%'
    AND application_name <> current_setting('application_name')
HAVING pg_has_role('pg_read_all_stats', 'USAGE')
