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
