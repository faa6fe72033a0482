-- How often the log was synced, which is once for each commit that waited, or for several at once. Version 18 has moved it.
SELECT 'log_syncs_total', wal_sync::float8 FROM pg_stat_wal
