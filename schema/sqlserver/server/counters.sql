-- SQL Server's performance counters of the whole instance, with the report's two among them: Buffer cache hit ratio and
-- Checkpoint pages/sec. What bears "/sec" in its name is a running total. With indirect checkpoints, the default since 2016, the
-- background writer writes what checkpoints did before.
SET NOCOUNT ON;
IF SERVERPROPERTY('Babelfish') = 1 THROW 50003, 'Babelfish has no performance counters', 1;
DECLARE @waits TABLE (wait_type nvarchar(60), seconds float);
-- Azure SQL Database lets a database see its own waits alone.
IF SERVERPROPERTY('EngineEdition') = 5
    INSERT INTO @waits EXEC (N'SELECT wait_type, wait_time_ms / 1000.0 FROM sys.dm_db_wait_stats');
ELSE
    INSERT INTO @waits SELECT wait_type, wait_time_ms / 1000.0 FROM sys.dm_os_wait_stats;
SELECT CASE counter_name
        WHEN 'Checkpoint pages/sec' THEN 'checkpoint_pages_total'
        WHEN 'Lock Waits/sec' THEN 'lock_waits_total'
        WHEN 'Number of Deadlocks/sec' THEN 'deadlocks_total'
    END,
    CAST(cntr_value AS float)
FROM sys.dm_os_performance_counters
WHERE (object_name LIKE '%:Buffer Manager%' AND counter_name = 'Checkpoint pages/sec')
    OR (object_name LIKE '%:Locks%' AND instance_name = '_Total' AND counter_name IN ('Lock Waits/sec', 'Number of Deadlocks/sec'))
UNION ALL
SELECT 'background_pages_total', SUM(CAST(cntr_value AS float))
FROM sys.dm_os_performance_counters
WHERE object_name LIKE '%:Buffer Manager%' AND counter_name IN ('Background writer pages/sec', 'Lazy writes/sec')
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
    ('waits_processor_seconds_total', 'SOS[_]SCHEDULER[_]YIELD'), ('waits_client_seconds_total', 'ASYNC[_]NETWORK[_]IO')
) AS k (name, kind)
LEFT JOIN @waits AS w ON w.wait_type LIKE k.kind
GROUP BY k.name
