-- SQL Server's performance counters of this database, its log among them, and what its sessions are doing just now. What bears
-- "/sec" in its name is a running total.
SET NOCOUNT ON;
IF SERVERPROPERTY('Babelfish') = 1 THROW 50003, 'Babelfish has no performance counters', 1;
DECLARE @database nvarchar(128) = DB_NAME();
-- Azure SQL Database names its counters by the database's physical name.
IF SERVERPROPERTY('EngineEdition') = 5
    EXEC sp_executesql N'SELECT @name = physical_database_name FROM sys.databases WHERE database_id = DB_ID()', N'@name nvarchar(128) OUTPUT', @name = @database OUTPUT;
SELECT CASE counter_name
        WHEN 'Write Transactions/sec' THEN 'commits_total'
        WHEN 'Log Bytes Flushed/sec' THEN 'log_bytes_total'
        WHEN 'Log Flushes/sec' THEN 'log_syncs_total'
        WHEN 'Data File(s) Size (KB)' THEN 'size_bytes'
        WHEN 'Log File(s) Size (KB)' THEN 'log_file_bytes'
        WHEN 'Log File(s) Used Size (KB)' THEN 'log_file_used_bytes'
    END,
    CAST(cntr_value AS float) * CASE WHEN counter_name LIKE '%(KB)' THEN 1024 ELSE 1 END
FROM sys.dm_os_performance_counters
WHERE object_name LIKE '%:Databases%' AND instance_name = @database
    AND counter_name IN ('Write Transactions/sec', 'Log Bytes Flushed/sec', 'Log Flushes/sec', 'Data File(s) Size (KB)', 'Log File(s) Size (KB)', 'Log File(s) Used Size (KB)')
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
