-- SQL Server's performance counters of this database and of the whole instance, with the report's two among them: Buffer
-- cache hit ratio and Checkpoint pages/sec. What bears "/sec" in its name is a running total. With indirect checkpoints,
-- the default since 2016, the background writer writes what checkpoints did before.
SET NOCOUNT ON;
IF SERVERPROPERTY('Babelfish') = 1 THROW 50003, 'Babelfish has no performance counters', 1;
DECLARE @database nvarchar(128) = DB_NAME();
DECLARE @waits TABLE (wait_type nvarchar(60), seconds float);
-- Azure SQL Database names its counters by the database's physical name, and lets a database see its own waits alone.
IF SERVERPROPERTY('EngineEdition') = 5
BEGIN
    EXEC sp_executesql N'SELECT @name = physical_database_name FROM sys.databases WHERE database_id = DB_ID()', N'@name nvarchar(128) OUTPUT', @name = @database OUTPUT;
    INSERT INTO @waits EXEC (N'SELECT wait_type, wait_time_ms / 1000.0 FROM sys.dm_db_wait_stats');
END
ELSE
    INSERT INTO @waits SELECT wait_type, wait_time_ms / 1000.0 FROM sys.dm_os_wait_stats;
SELECT CASE counter_name
        WHEN 'Write Transactions/sec' THEN 'commits_total'
        WHEN 'Log Bytes Flushed/sec' THEN 'log_bytes_total'
        WHEN 'Log Flushes/sec' THEN 'log_syncs_total'
        WHEN 'Data File(s) Size (KB)' THEN 'size_bytes'
        WHEN 'Log File(s) Size (KB)' THEN 'log_file_bytes'
        WHEN 'Log File(s) Used Size (KB)' THEN 'log_file_used_bytes'
        WHEN 'Checkpoint pages/sec' THEN 'checkpoint_pages_total'
        WHEN 'Lock Waits/sec' THEN 'lock_waits_total'
        WHEN 'Number of Deadlocks/sec' THEN 'deadlocks_total'
    END,
    CAST(cntr_value AS float) * CASE WHEN counter_name LIKE '%(KB)' THEN 1024 ELSE 1 END
FROM sys.dm_os_performance_counters
WHERE (object_name LIKE '%:Databases%' AND instance_name = @database
        AND counter_name IN ('Write Transactions/sec', 'Log Bytes Flushed/sec', 'Log Flushes/sec', 'Data File(s) Size (KB)', 'Log File(s) Size (KB)', 'Log File(s) Used Size (KB)'))
    OR (object_name LIKE '%:Buffer Manager%' AND counter_name = 'Checkpoint pages/sec')
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
SELECT state, COUNT(session_id)
FROM (VALUES ('sessions_idle'), ('sessions_running'), ('sessions_waiting_for_lock'), ('sessions_waiting_for_storage'),
    ('sessions_waiting_for_latch'), ('sessions_waiting_for_client'), ('sessions_waiting_for_the_rest')) AS states (state)
LEFT JOIN (
    SELECT s.session_id, CASE
            WHEN r.session_id IS NULL THEN 'sessions_idle'
            WHEN r.wait_type IS NULL THEN 'sessions_running'
            WHEN r.wait_type LIKE 'LCK%' THEN 'sessions_waiting_for_lock'
            WHEN r.wait_type LIKE 'PAGEIOLATCH%' OR r.wait_type LIKE '%IO_COMPLETION' OR r.wait_type = 'WRITELOG' THEN 'sessions_waiting_for_storage'
            WHEN r.wait_type LIKE 'PAGELATCH%' OR r.wait_type LIKE 'LATCH%' THEN 'sessions_waiting_for_latch'
            WHEN r.wait_type = 'ASYNC_NETWORK_IO' THEN 'sessions_waiting_for_client'
            ELSE 'sessions_waiting_for_the_rest'
        END AS in_state
    FROM sys.dm_exec_sessions AS s
    LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id
    WHERE s.is_user_process = 1 AND s.database_id = DB_ID() AND s.session_id <> @@SPID
) AS users ON users.in_state = states.state
GROUP BY state
UNION ALL
SELECT k.name, COALESCE(SUM(w.seconds), 0)
FROM (VALUES
    ('waits_data_read_seconds_total', 'PAGEIOLATCH[_]%'), ('waits_log_write_seconds_total', 'WRITELOG'), ('waits_log_write_seconds_total', 'LOGBUFFER'),
    ('waits_lock_seconds_total', 'LCK[_]M[_]%'), ('waits_latch_seconds_total', 'PAGELATCH[_]%'), ('waits_latch_seconds_total', 'LATCH[_]%'),
    ('waits_processor_seconds_total', 'SOS[_]SCHEDULER[_]YIELD'), ('waits_client_seconds_total', 'ASYNC[_]NETWORK[_]IO')
) AS k (name, kind)
LEFT JOIN @waits AS w ON w.wait_type LIKE k.kind
GROUP BY k.name
