-- The log of the cluster.
SELECT 'log_bytes_total', pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8
