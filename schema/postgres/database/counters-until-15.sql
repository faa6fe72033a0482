-- Reads of the database's tables and indexes, by all its processes: version 16 tells transactions and vacuums apart. They are timed where
-- track_io_timing is on.
SELECT c.name, c.value::float8
FROM pg_stat_database d, LATERAL (VALUES
    ('transaction_reads_total', d.blks_read),
    ('transaction_read_seconds_total', CASE WHEN current_setting('track_io_timing')::boolean THEN d.blk_read_time / 1000 END)
) c (name, value)
WHERE d.datname = current_database()
