-- Writes of the log, and how often it was synced, which is once for each commit that waited, or for several at once. A log that is opened
-- for synced writes is synced by each write, which is not counted as a sync. Version 18 has moved both.
-- They are timed where track_wal_io_timing is on.
SELECT c.name, c.value::float8
FROM pg_stat_wal w, LATERAL (VALUES
    ('log_writes_total', w.wal_write),
    ('log_write_seconds_total', CASE WHEN current_setting('track_wal_io_timing')::boolean THEN w.wal_write_time / 1000 END),
    ('log_sync_seconds_total', CASE WHEN current_setting('track_wal_io_timing')::boolean THEN w.wal_sync_time / 1000 END),
    ('log_syncs_total', CASE WHEN current_setting('wal_sync_method') LIKE 'open%' AND current_setting('fsync')::boolean
                             THEN w.wal_write ELSE w.wal_sync END)
) c (name, value)
