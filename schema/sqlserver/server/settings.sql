-- The settings of the server and of the database that decide what storage sees.
SELECT CAST(name AS nvarchar(100)), CAST(value_in_use AS nvarchar(100))
FROM sys.configurations
WHERE name IN ('max server memory (MB)', 'min server memory (MB)', 'max degree of parallelism',
    'cost threshold for parallelism', 'recovery interval (min)', 'lightweight pooling', 'priority boost',
    'backup compression default', 'tempdb metadata memory-optimized', 'max worker threads')
UNION ALL
SELECT c.name, c.value
FROM sys.databases d
CROSS APPLY (VALUES
    ('recovery model', d.recovery_model_desc),
    ('page verify', d.page_verify_option_desc),
    ('delayed durability', d.delayed_durability_desc),
    ('snapshot isolation', d.snapshot_isolation_state_desc),
    ('read committed snapshot', CAST(d.is_read_committed_snapshot_on AS nvarchar(60))),
    ('target recovery time (s)', CAST(d.target_recovery_time_in_seconds AS nvarchar(60))),
    ('compatibility level', CAST(d.compatibility_level AS nvarchar(60)))
) c (name, value)
WHERE d.database_id = DB_ID()
