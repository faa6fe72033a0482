-- Writes of the log, and how often it was synced, which is once for each commit that waited, or for several at once. A log that is opened
-- for synced writes is synced by each write, which is not counted as a sync. Version 18 has moved both.
SELECT c.name, c.value::float8
FROM pg_stat_wal w, LATERAL (VALUES
    ('log_writes_total', w.wal_write),
    ('log_syncs_total', CASE WHEN current_setting('wal_sync_method') LIKE 'open%' AND current_setting('fsync')::boolean
                             THEN w.wal_write ELSE w.wal_sync END)
) c (name, value)
