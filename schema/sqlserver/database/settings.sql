-- What a reader of a result must know of the server and of the database, and what ds2 warns of before a run. Each batch is
-- run by itself: what a version or an edition does not have, or the login may not see, is left out.
SELECT name, COALESCE(CAST(value_in_use AS varchar(100)), '') FROM sys.configurations
UNION ALL
SELECT 'database recovery model', COALESCE(CAST(DATABASEPROPERTYEX(DB_NAME(), 'Recovery') AS varchar(100)), '')
UNION ALL
SELECT 'database collation', COALESCE(CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS varchar(100)), '')
UNION ALL
SELECT 'server edition', CASE WHEN SERVERPROPERTY('Babelfish') = 1 THEN 'Babelfish for PostgreSQL' ELSE COALESCE(CAST(SERVERPROPERTY('Edition') AS varchar(100)), '') END
GO
SELECT v.name, v.value
FROM sys.databases AS d
CROSS APPLY (VALUES
    ('database delayed durability', CAST(d.delayed_durability_desc AS varchar(100))),
    ('database page verify', CAST(d.page_verify_option_desc AS varchar(100))),
    ('database read committed snapshot', CAST(d.is_read_committed_snapshot_on AS varchar(100))),
    ('database query store', CAST(d.is_query_store_on AS varchar(100))),
    ('database target recovery time (s)', CAST(d.target_recovery_time_in_seconds AS varchar(100))),
    ('database compatibility level', CAST(d.compatibility_level AS varchar(100)))
) AS v (name, value)
WHERE d.name = DB_NAME() AND v.value IS NOT NULL
GO
-- What Azure SQL Database is paid for.
SELECT 'service objective', CAST(DATABASEPROPERTYEX(DB_NAME(), 'ServiceObjective') AS varchar(100))
WHERE DATABASEPROPERTYEX(DB_NAME(), 'ServiceObjective') IS NOT NULL
GO
-- Since SQL Server 2019.
SELECT 'database accelerated recovery', CAST(is_accelerated_database_recovery_on AS varchar(100))
FROM sys.databases WHERE name = DB_NAME()
GO
-- Full recovery takes effect with the first full backup: until then the log is truncated as under simple recovery.
SELECT 'database log chain', CASE WHEN last_log_backup_lsn IS NULL THEN 'none' ELSE 'begun' END
FROM sys.database_recovery_status WHERE database_id = DB_ID()
GO
SELECT 'database used bytes', CAST(SUM(CAST(FILEPROPERTY(name, 'SpaceUsed') AS bigint)) * 8192 AS varchar(100))
FROM sys.database_files WHERE type = 0
HAVING SUM(CAST(FILEPROPERTY(name, 'SpaceUsed') AS bigint)) IS NOT NULL
GO
SELECT v.name, v.value
FROM (SELECT SUM(CAST(size AS bigint)) * 8192 AS size, SUM(CAST(FILEPROPERTY(name, 'SpaceUsed') AS bigint)) * 8192 AS used
    FROM sys.database_files WHERE type = 1) AS l
CROSS APPLY (VALUES
    ('database log bytes', CAST(l.size AS varchar(100))),
    ('database log used bytes', CAST(l.used AS varchar(100)))
) AS v (name, value)
WHERE v.value IS NOT NULL
GO
-- The same by the byte, for those who may see the server's state.
SELECT v.name, v.value
FROM sys.dm_db_log_space_usage
CROSS APPLY (VALUES
    ('database log bytes', CAST(total_log_size_in_bytes AS varchar(100))),
    ('database log used bytes', CAST(used_log_space_in_bytes AS varchar(100)))
) AS v (name, value)
GO
SELECT v.name, v.value
FROM sys.database_files AS f
CROSS APPLY sys.dm_os_volume_stats(DB_ID(), f.file_id) AS s
CROSS APPLY (VALUES
    ('log volume', CAST(s.volume_mount_point AS varchar(260))),
    ('log volume free bytes', CAST(s.available_bytes AS varchar(100)))
) AS v (name, value)
WHERE f.type = 1 AND v.value IS NOT NULL
GO
SELECT 'tempdb data files', CAST(COUNT(*) AS varchar(100)) FROM tempdb.sys.database_files WHERE type = 0
GO
SELECT 'server CPUs', CAST(cpu_count AS varchar(100)) FROM sys.dm_os_sys_info
GO
SELECT 'server memory bytes', CAST(total_physical_memory_kb * 1024 AS varchar(100)) FROM sys.dm_os_sys_memory
GO
-- Since SQL Server 2017.
SELECT 'server system', CAST(host_distribution + ' ' + host_release AS varchar(200)) FROM sys.dm_os_host_info
GO
SELECT 'server instant file initialization', CAST(instant_file_initialization_enabled AS varchar(10))
FROM sys.dm_server_services WHERE filename LIKE '%sqlservr%'
GO
-- Whose database it is; none: DVD Store 2's.
SELECT 'ds2 workload', value FROM ds2_info WHERE name = 'workload'
GO
-- Until the target is reached, a read of one page is made one of eight. The columns are of type int.
SELECT v.name, v.value
FROM sys.dm_os_sys_info
CROSS APPLY (VALUES
    ('server memory target bytes', CAST(CAST(committed_target_kb AS bigint) * 1024 AS varchar(100))),
    ('server memory committed bytes', CAST(CAST(committed_kb AS bigint) * 1024 AS varchar(100)))
) AS v (name, value)
GO
SELECT 'server buffer pool extension', CASE WHEN state_description LIKE '%ENABLED' THEN '1' ELSE '0' END
FROM sys.dm_os_buffer_pool_extension_configuration
GO
-- Since SQL Server 2019. The database's own flag is on by default; it is of effect where the server's is on, too.
SELECT 'database memory optimized pages', CASE WHEN d.is_memory_optimized_enabled = 1 AND c.is_enabled = 1 THEN '1' ELSE '0' END
FROM sys.databases AS d CROSS JOIN sys.server_memory_optimized_hybrid_buffer_pool_configuration AS c WHERE d.name = DB_NAME()
GO
-- Since SQL Server 2016 SP1.
SELECT 'database persistent log buffer', CASE WHEN MAX(CAST(is_persistent_log_buffer AS int)) = 1 THEN '1' ELSE '0' END
FROM sys.database_files WHERE type = 1
GO
SELECT 'database availability group', CASE WHEN replica_id IS NULL THEN '0' ELSE '1' END FROM sys.databases WHERE name = DB_NAME()
GO
SELECT 'database encryption', CAST(is_encrypted AS varchar(10)) FROM sys.databases WHERE name = DB_NAME()
GO
SELECT 'database compressed indexes', CAST(COUNT(*) AS varchar(100))
FROM sys.partitions AS p
JOIN sys.tables AS t ON t.object_id = p.object_id
WHERE p.data_compression > 0 AND t.is_ms_shipped = 0
GO
-- What is in effect: the stored configuration may be another, and takes the right to see definitions.
SELECT 'server resource governor', CASE WHEN EXISTS (SELECT 1 FROM sys.dm_resource_governor_configuration WHERE classifier_function_id <> 0)
    OR EXISTS (SELECT 1 FROM sys.dm_resource_governor_resource_pools WHERE pool_id > 2 OR max_iops_per_volume > 0) THEN '1' ELSE '0' END
GO
-- How the log reaches the drive on Linux: 3979 and 3982 decide between FUA and a flush after each write.
SET NOCOUNT ON;
CREATE TABLE #flags (flag int, status int, is_global int, is_session int);
INSERT INTO #flags EXEC ('DBCC TRACESTATUS(-1) WITH NO_INFOMSGS');
SELECT 'server trace flags', COALESCE(STUFF((SELECT ', ' + CAST(flag AS varchar(10)) FROM #flags WHERE is_global = 1 ORDER BY flag FOR XML PATH('')), 1, 2, ''), '');
DROP TABLE #flags
GO
SELECT 'server suspect pages', CAST(COUNT(*) AS varchar(100))
FROM msdb.dbo.suspect_pages WHERE database_id = DB_ID() AND event_type IN (1, 2, 3)
GO
-- Since SQL Server 2016 SP2.
SELECT v.name, v.value
FROM (SELECT COUNT(*) AS files, SUM(CASE WHEN vlf_active = 1 THEN 1 ELSE 0 END) AS active FROM sys.dm_db_log_info(DB_ID())) AS l
CROSS APPLY (VALUES
    ('database virtual log files', CAST(l.files AS varchar(100))),
    ('database virtual log files in use', CAST(l.active AS varchar(100)))
) AS v (name, value)
GO
-- On Windows alone: a row of the value's name, ActivePowerScheme, and the plan's GUID.
EXEC master.dbo.xp_regread N'HKEY_LOCAL_MACHINE', N'SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes', N'ActivePowerScheme'
