-- Version 17 moved the checkpointer's counters to a separate view, and what sessions write stands in pg_stat_io only.
SELECT c.name, c.value::float8
FROM pg_stat_bgwriter b, pg_stat_checkpointer p, LATERAL (VALUES
    ('checkpoints_total', p.num_timed + p.num_requested),
    ('checkpoint_pages_total', p.buffers_written),
    ('background_pages_total', b.buffers_clean),
    ('session_pages_total', (SELECT sum(writes)::bigint FROM pg_stat_io
                             WHERE backend_type = 'client backend' AND object = 'relation'))
) c (name, value)
