-- The server's performance counters and what the database's sessions are doing just now. Counters named per second are
-- running totals in this view; the cache hit ratio has to be divided by its base. Needs VIEW SERVER STATE.
SELECT c.name, CAST(p.cntr_value AS float)
FROM sys.dm_os_performance_counters p
JOIN (VALUES
    ('commits_total', 'Databases', 'Transactions/sec', DB_NAME()),
    ('log_bytes_total', 'Databases', 'Log Bytes Flushed/sec', DB_NAME()),
    ('checkpoint_pages_total', 'Buffer Manager', 'Checkpoint pages/sec', ''),
    ('background_pages_total', 'Buffer Manager', 'Lazy writes/sec', ''),
    ('lock_waits_total', 'Locks', 'Lock Waits/sec', '_Total'),
    ('deadlocks_total', 'Locks', 'Number of Deadlocks/sec', '_Total')
) c (name, object, counter, instance)
ON RTRIM(p.object_name) LIKE '%:' + c.object AND p.counter_name = c.counter AND p.instance_name = c.instance
UNION ALL
SELECT 'cache_hit_ratio', CAST(p.cntr_value AS float) / NULLIF(b.cntr_value, 0)
FROM sys.dm_os_performance_counters p
JOIN sys.dm_os_performance_counters b
ON b.object_name = p.object_name AND b.counter_name = 'Buffer cache hit ratio base'
WHERE RTRIM(p.object_name) LIKE '%:Buffer Manager' AND p.counter_name = 'Buffer cache hit ratio'
UNION ALL
SELECT 'size_bytes', SUM(CAST(size AS float)) * 8192 FROM sys.database_files WHERE type = 0
UNION ALL
SELECT c.name, CAST(c.value AS float)
FROM (
    SELECT COUNT(CASE WHEN doing = 'idle' THEN 1 END) AS idle,
           COUNT(CASE WHEN doing = 'running' THEN 1 END) AS running,
           COUNT(CASE WHEN doing = 'lock' THEN 1 END) AS lock,
           COUNT(CASE WHEN doing = 'storage' THEN 1 END) AS storage,
           COUNT(CASE WHEN doing = 'latch' THEN 1 END) AS latch,
           COUNT(CASE WHEN doing = 'client' THEN 1 END) AS client,
           COUNT(CASE WHEN doing = 'rest' THEN 1 END) AS rest
    FROM (
        SELECT CASE
            WHEN r.session_id IS NULL THEN 'idle'
            WHEN r.wait_type IS NULL THEN 'running'
            WHEN r.wait_type LIKE 'LCK[_]%' THEN 'lock'
            WHEN r.wait_type LIKE 'PAGEIOLATCH[_]%'
                OR r.wait_type IN ('WRITELOG', 'LOGBUFFER', 'IO_COMPLETION', 'ASYNC_IO_COMPLETION') THEN 'storage'
            WHEN r.wait_type LIKE 'PAGELATCH[_]%' OR r.wait_type LIKE 'LATCH[_]%' THEN 'latch'
            WHEN r.wait_type = 'ASYNC_NETWORK_IO' THEN 'client'
            WHEN r.wait_type = 'SOS_SCHEDULER_YIELD' THEN 'running'
            ELSE 'rest'
        END AS doing
        FROM sys.dm_exec_sessions s
        LEFT JOIN sys.dm_exec_requests r ON r.session_id = s.session_id
        WHERE s.is_user_process = 1 AND s.database_id = DB_ID() AND s.session_id <> @@SPID
    ) sessions
) s
CROSS APPLY (VALUES
    ('sessions_idle', s.idle),
    ('sessions_running', s.running),
    ('sessions_waiting_for_lock', s.lock),
    ('sessions_waiting_for_storage', s.storage),
    ('sessions_waiting_for_latch', s.latch),
    ('sessions_waiting_for_client', s.client),
    ('sessions_waiting_for_the_rest', s.rest)
) c (name, value)
