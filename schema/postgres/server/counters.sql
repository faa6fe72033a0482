-- The log of the cluster, and the sessions of others that are at work, where they are shown.
SELECT 'log_bytes_total', pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8
UNION ALL
SELECT 'settings_load_time_total', extract(epoch FROM pg_conf_load_time())::float8
UNION ALL
SELECT 'other_sessions', count(*)::float8 FROM pg_stat_activity
WHERE backend_type = 'client backend' AND state = 'active' AND application_name NOT LIKE 'ds2%'
    AND application_name <> current_setting('application_name')
HAVING pg_has_role('pg_read_all_stats', 'USAGE')
{{if ge . 17}}
UNION ALL
-- Version 17 moved the checkpointer's counters to a separate view, and what sessions write stands in pg_stat_io only.
SELECT c.name, c.value::float8
FROM pg_stat_bgwriter b, pg_stat_checkpointer p, LATERAL (VALUES
    ('checkpoints_total', p.num_timed + p.num_requested),
    ('checkpoint_pages_total', p.buffers_written),
    ('background_pages_total', b.buffers_clean),
    ('session_pages_total', (SELECT sum(writes)::bigint FROM pg_stat_io
                             WHERE backend_type = 'client backend' AND object = 'relation'))
) c (name, value)
{{else}}
UNION ALL
SELECT c.name, c.value::float8
FROM pg_stat_bgwriter b, LATERAL (VALUES
    ('checkpoints_total', b.checkpoints_timed + b.checkpoints_req),
    ('checkpoint_pages_total', b.buffers_checkpoint),
    ('background_pages_total', b.buffers_clean),
    ('session_pages_total', b.buffers_backend)
) c (name, value)
{{end}}
{{if ge . 16}}
UNION ALL
-- Reads and writes of tables and indexes for transactions: by sessions, checkpoints and the background writer; and those of vacuums, which
-- are none of theirs. They are timed where track_io_timing is on.
SELECT c.name, c.value::float8
FROM (SELECT sum(reads) FILTER (WHERE vacuums) AS vacuum_reads, sum(writes) FILTER (WHERE vacuums) AS vacuum_writes,
             sum(reads) FILTER (WHERE NOT vacuums) AS reads, sum(writes) FILTER (WHERE NOT vacuums) AS writes,
             sum(extends) FILTER (WHERE NOT vacuums) AS extends,
             sum(read_time) FILTER (WHERE NOT vacuums) AS read_time, sum(write_time) FILTER (WHERE NOT vacuums) AS write_time
      FROM (SELECT *, backend_type = 'autovacuum worker' OR context = 'vacuum' AS vacuums FROM pg_stat_io WHERE object = 'relation') io) io,
LATERAL (VALUES
    ('transaction_reads_total', io.reads),
    ('transaction_writes_total', io.writes),
    ('transaction_extends_total', io.extends),
    ('transaction_read_seconds_total', CASE WHEN current_setting('track_io_timing')::boolean THEN io.read_time / 1000 END),
    ('transaction_write_seconds_total', CASE WHEN current_setting('track_io_timing')::boolean THEN io.write_time / 1000 END),
    ('vacuum_reads_total', io.vacuum_reads),
    ('vacuum_writes_total', io.vacuum_writes)
) c (name, value)
{{end}}
{{if ge . 18}}
UNION ALL
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
{{else if ge . 14}}
UNION ALL
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
{{end}}
