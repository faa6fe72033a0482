SELECT c.name, c.value::float8
FROM pg_stat_bgwriter b, LATERAL (VALUES
    ('checkpoints_total', b.checkpoints_timed + b.checkpoints_req),
    ('checkpoint_pages_total', b.buffers_checkpoint),
    ('background_pages_total', b.buffers_clean),
    ('session_pages_total', b.buffers_backend)
) c (name, value)
