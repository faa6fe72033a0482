-- What of the configuration decides whether a run tests storage: one row. The last two columns are texts, empty where
-- there is nothing to say: settings that decide on plans, and what the server does besides for each statement.
SELECT pg_database_size(current_database()), pg_size_bytes(current_setting('shared_buffers')),
    coalesce(current_setting('debug_io_direct', true) LIKE '%data%', false),
    pg_size_bytes(current_setting('effective_cache_size')),
    current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
    (SELECT setting::bigint FROM pg_settings WHERE name = 'checkpoint_timeout'),
    (SELECT coalesce(string_agg(format('%s is %s', name, setting), ', ' ORDER BY name), '') FROM pg_settings
        WHERE setting <> boot_val AND (name LIKE 'enable\_%' OR name LIKE 'jit\_%\_cost'
            OR name IN ('default_transaction_isolation', 'plan_cache_mode'))),
    (SELECT coalesce(string_agg(format('%s is %s', name, setting), ', ' ORDER BY name), '') FROM pg_settings
        WHERE name = 'log_statement' AND setting <> 'none' OR name = 'log_duration' AND setting = 'on'
            OR name = 'log_min_duration_statement' AND setting = '0'),
    current_setting('track_counts'), current_setting('track_activities')
