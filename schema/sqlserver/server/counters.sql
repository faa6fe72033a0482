-- SQL Server's performance counters of the whole instance, with the report's two among them: Buffer cache hit ratio and
-- Checkpoint pages/sec. What bears "/sec" in its name is a running total. With indirect checkpoints, the default since 2016, the
-- background writer writes what checkpoints did before.
SET NOCOUNT ON;
IF SERVERPROPERTY('Babelfish') = 1 THROW 50003, 'Babelfish has no performance counters', 1;
DECLARE @waits TABLE (wait_type nvarchar(60) COLLATE DATABASE_DEFAULT, seconds float);
-- Azure SQL Database lets a database see its own waits alone.
IF SERVERPROPERTY('EngineEdition') IN (5, 12)
    INSERT INTO @waits EXEC (N'SELECT wait_type, wait_time_ms / 1000.0 FROM sys.dm_db_wait_stats');
ELSE
    INSERT INTO @waits SELECT wait_type, wait_time_ms / 1000.0 FROM sys.dm_os_wait_stats;
-- A counter's name is compared by =, for which the blanks at its end do not count; for LIKE they do. It may have another collation.
SELECT c.name, CAST(p.cntr_value AS float) * c.unit
FROM sys.dm_os_performance_counters AS p
JOIN (VALUES
    ('%:Buffer Manager%', '', 'Checkpoint pages/sec', 'checkpoint_pages_total', 1),
    ('%:Buffer Manager%', '', 'Background writer pages/sec', 'background_pages_total', 1),
    ('%:Buffer Manager%', '', 'Lazy writes/sec', 'lazy_pages_total', 1),
    ('%:Buffer Manager%', '', 'Readahead pages/sec', 'read_ahead_pages_total', 1),
    ('%:Buffer Manager%', '', 'Page life expectancy', 'page_life_seconds', 1),
    ('%:Locks%', '_Total', 'Lock Waits/sec', 'lock_waits_total', 1),
    ('%:Locks%', '_Total', 'Number of Deadlocks/sec', 'deadlocks_total', 1)
) AS c (object, instance, counter, name, unit) ON p.object_name COLLATE DATABASE_DEFAULT LIKE c.object
    AND p.instance_name COLLATE DATABASE_DEFAULT = c.instance AND p.counter_name COLLATE DATABASE_DEFAULT = c.counter
UNION ALL
SELECT 'temporary_file_bytes_total', SUM(CAST(num_of_bytes_read + num_of_bytes_written AS float))
FROM sys.dm_io_virtual_file_stats(DB_ID('tempdb'), NULL)
UNION ALL
SELECT 'cache_hit_ratio', MAX(CASE counter_name WHEN 'Buffer cache hit ratio' THEN CAST(cntr_value AS float) END)
    / NULLIF(MAX(CASE counter_name WHEN 'Buffer cache hit ratio base' THEN CAST(cntr_value AS float) END), 0)
FROM sys.dm_os_performance_counters
WHERE object_name LIKE '%:Buffer Manager%' AND counter_name IN ('Buffer cache hit ratio', 'Buffer cache hit ratio base')
UNION ALL
SELECT k.name, COALESCE(SUM(w.seconds), 0)
FROM (VALUES
    ('waits_data_read_seconds_total', 'PAGEIOLATCH[_]%'), ('waits_log_write_seconds_total', 'WRITELOG'), ('waits_log_write_seconds_total', 'LOGBUFFER'),
    ('waits_lock_seconds_total', 'LCK[_]M[_]%'), ('waits_latch_seconds_total', 'PAGELATCH[_]%'), ('waits_latch_seconds_total', 'LATCH[_]%'),
    ('waits_log_replica_seconds_total', 'HADR[_]SYNC[_]COMMIT'), ('waits_log_limit_seconds_total', 'LOG[_]RATE[_]GOVERNOR'),
    ('waits_log_limit_seconds_total', 'POOL[_]LOG[_]RATE[_]GOVERNOR'), ('waits_log_limit_seconds_total', 'INSTANCE[_]LOG[_]RATE[_]GOVERNOR'),
    ('waits_log_limit_seconds_total', 'HADR[_]THROTTLE[_]LOG[_]RATE[_]%'), ('waits_data_write_seconds_total', 'WRITE[_]COMPLETION'),
    ('waits_processor_seconds_total', 'SOS[_]SCHEDULER[_]YIELD'), ('waits_client_seconds_total', 'ASYNC[_]NETWORK[_]IO')
) AS k (name, kind)
LEFT JOIN @waits AS w ON w.wait_type LIKE k.kind
GROUP BY k.name
UNION ALL
SELECT 'settings_sum', c.settings + d.settings
FROM (SELECT SUM(CAST(CHECKSUM(configuration_id, CAST(value_in_use AS int)) AS float)) AS settings FROM sys.configurations) AS c
CROSS JOIN (
    SELECT SUM(CAST(CHECKSUM(database_id, delayed_durability, recovery_model, page_verify_option, snapshot_isolation_state, is_read_committed_snapshot_on) AS float)) AS settings
    FROM sys.databases
) AS d
