-- SQL Server's performance counters of this database, its log among them, and what its sessions are doing just now. What bears
-- "/sec" in its name is a running total.
SET NOCOUNT ON;
IF SERVERPROPERTY('Babelfish') = 1 THROW 50003, 'Babelfish has no performance counters', 1;
DECLARE @database nvarchar(128) = DB_NAME();
-- Azure SQL Database names its counters by the database's physical name, and has one number for DB_ID and another for sys.databases.
IF SERVERPROPERTY('EngineEdition') IN (5, 12)
    EXEC sp_executesql N'SELECT @name = physical_database_name FROM sys.databases WHERE name = DB_NAME()', N'@name nvarchar(128) OUTPUT', @name = @database OUTPUT;
-- A counter's name is compared by =, for which the blanks at its end do not count; for LIKE they do. It may have another collation.
SELECT c.name, CAST(p.cntr_value AS float) * c.unit
FROM sys.dm_os_performance_counters AS p
JOIN (VALUES
    ('Write Transactions/sec', 'commits_total', 1),
    ('Log Bytes Flushed/sec', 'log_bytes_total', 1),
    ('Log Flushes/sec', 'log_syncs_total', 1),
    ('Log Flush Write Time (ms)', 'log_flush_seconds', 0.001),
    ('Data File(s) Size (KB)', 'size_bytes', 1024),
    ('Log File(s) Size (KB)', 'log_file_bytes', 1024),
    ('Log File(s) Used Size (KB)', 'log_file_used_bytes', 1024)
) AS c (counter, name, unit) ON p.counter_name COLLATE DATABASE_DEFAULT = c.counter
WHERE p.object_name LIKE '%:Databases%' AND p.instance_name = @database
UNION ALL
SELECT 'io_held_seconds_total', SUM(CAST(io_stall_queued_read_ms + io_stall_queued_write_ms AS float)) / 1000
FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL)
UNION ALL
SELECT 'log_writes_total', SUM(CAST(v.num_of_writes AS float))
FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL) AS v
JOIN sys.database_files AS f ON f.file_id = v.file_id
WHERE f.type = 1
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
