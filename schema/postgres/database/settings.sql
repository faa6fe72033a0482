-- The settings that decide what storage sees. Listed by name: others may hold passwords.
SELECT name, current_setting(name) FROM pg_settings
WHERE name IN (
    'autovacuum', 'bgwriter_delay', 'bgwriter_lru_maxpages', 'block_size', 'checkpoint_completion_target',
    'checkpoint_flush_after', 'checkpoint_timeout', 'commit_delay', 'data_checksums', 'debug_io_direct',
    'effective_cache_size', 'effective_io_concurrency', 'fsync', 'full_page_writes', 'huge_pages', 'io_combine_limit',
    'io_method', 'io_workers', 'jit', 'maintenance_work_mem', 'max_connections', 'max_wal_size', 'min_wal_size',
    'random_page_cost', 'shared_buffers', 'synchronous_commit', 'synchronous_standby_names', 'temp_buffers', 'track_io_timing',
    'track_wal_io_timing',    'wal_buffers', 'wal_compression', 'wal_level', 'wal_segment_size', 'wal_sync_method', 'work_mem')
ORDER BY name
