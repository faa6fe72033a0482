-- Writes of the log, and how often it was synced, which is once for each commit that waited, or for several at once. A log that is opened
-- for synced writes is synced by each write, which is not counted as a sync. New segments are counted as init.
SELECT c.name, c.value::float8
FROM (SELECT sum(writes) AS writes, sum(fsyncs) AS fsyncs FROM pg_stat_io WHERE object = 'wal' AND context = 'normal') w,
LATERAL (VALUES
    ('log_writes_total', w.writes),
    ('log_syncs_total', CASE WHEN current_setting('wal_sync_method') LIKE 'open%' AND current_setting('fsync')::boolean
                             THEN w.writes ELSE w.fsyncs END)
) c (name, value)
