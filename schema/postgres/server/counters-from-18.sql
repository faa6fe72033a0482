-- Writes of the log, and how often it was synced, which is once for each commit that waited, or for several at once. A log that is opened
-- for synced writes is synced by each write, which is not counted as a sync. New segments are counted as init.
-- They are timed where track_wal_io_timing is on.
SELECT c.name, c.value::float8
FROM (SELECT sum(writes) AS writes, sum(fsyncs) AS fsyncs, sum(write_time) AS write_time, sum(fsync_time) AS fsync_time
      FROM pg_stat_io WHERE object = 'wal' AND context = 'normal') w,
LATERAL (VALUES
    ('log_writes_total', w.writes),
    ('log_write_seconds_total', CASE WHEN current_setting('track_wal_io_timing')::boolean THEN w.write_time / 1000 END),
    ('log_sync_seconds_total', CASE WHEN current_setting('track_wal_io_timing')::boolean THEN w.fsync_time / 1000 END),
    ('log_syncs_total', CASE WHEN current_setting('wal_sync_method') LIKE 'open%' AND current_setting('fsync')::boolean
                             THEN w.writes ELSE w.fsyncs END)
) c (name, value)
