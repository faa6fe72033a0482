-- Stand-ins for the system objects that ds2 asks, as Microsoft's pages give them: the columns that ds2 uses, their types, and the
-- first version where it is after 2016. No database model holds the server's own. Each is in schema ds2sys, by which
-- .ci/tsql replaces sys, msdb.dbo and tempdb.sys. The page of NAME is learn.microsoft.com/sql/relational-databases/ with what is named:
--   views     system-catalog-views/sys-NAME-transact-sql
--   dynamic   system-dynamic-management-views/sys-NAME-transact-sql
CREATE SCHEMA ds2sys;
GO
ALTER DATABASE [$(DatabaseName)] ADD FILEGROUP DS_CUST_FG;
GO
ALTER DATABASE [$(DatabaseName)] ADD FILEGROUP DS_ORDERS_FG;
GO
ALTER DATABASE [$(DatabaseName)] ADD FILEGROUP DS_MISC_FG;
GO
ALTER DATABASE [$(DatabaseName)] ADD FILEGROUP DS_IND_FG;
GO
-- of a test: the table that a scan reads
CREATE TABLE dbo.X (a int);
GO
-- views: sys-databases-transact-sql; accelerated recovery and memory_optimized since 2019
CREATE VIEW ds2sys.databases AS SELECT CAST('' AS sysname) AS name, CAST(0 AS datetime) AS create_date, CAST(0 AS int) AS database_id, CAST(0x0 AS varbinary(85)) AS owner_sid,
    CAST(0 AS tinyint) AS compatibility_level, CAST(N'' AS nvarchar(60)) AS state_desc, CAST(N'' AS nvarchar(60)) AS recovery_model_desc,
    CAST(0 AS tinyint) AS page_verify_option, CAST(N'' AS nvarchar(60)) AS page_verify_option_desc, CAST(N'' AS nvarchar(60)) AS delayed_durability_desc,
    CAST(N'' AS nvarchar(60)) AS snapshot_isolation_state_desc, CAST(N'' AS nvarchar(60)) AS containment_desc,
    CAST(N'' AS nvarchar(60)) AS log_reuse_wait_desc, CAST(N'' AS sysname) AS physical_database_name, CAST(0 AS int) AS target_recovery_time_in_seconds,
    CAST(0 AS bit) AS is_read_committed_snapshot_on, CAST(0 AS bit) AS is_accelerated_database_recovery_on, CAST(0 AS bit) AS is_query_store_on,
    CAST(0 AS bit) AS is_auto_create_stats_on, CAST(0 AS bit) AS is_auto_update_stats_on, CAST(0 AS bit) AS is_auto_update_stats_async_on,
    CAST(0 AS bit) AS is_parameterization_forced, CAST(0 AS bit) AS is_auto_shrink_on, CAST(0 AS bit) AS is_trustworthy_on,
    CAST(0 AS bit) AS is_encrypted, CAST(0 AS bit) AS is_memory_optimized_enabled, CAST(NULL AS uniqueidentifier) AS replica_id;
GO
-- views: sys-database-files-transact-sql; is_persistent_log_buffer since 2016 SP1
CREATE VIEW ds2sys.database_files AS SELECT CAST(0 AS int) AS file_id, CAST(0 AS tinyint) AS type, CAST(0 AS int) AS data_space_id,
    CAST(N'' AS sysname) AS name, CAST(N'' AS nvarchar(260)) AS physical_name, CAST(0 AS int) AS size, CAST(0 AS int) AS max_size, CAST(0 AS int) AS growth,
    CAST(0 AS bit) AS is_percent_growth, CAST(0 AS bit) AS is_persistent_log_buffer;
GO
-- views: sys-master-files-transact-sql
CREATE VIEW ds2sys.master_files AS SELECT CAST(0 AS int) AS database_id, CAST(N'' AS sysname) AS name, CAST(N'' AS nvarchar(260)) AS physical_name;
GO
-- views: sys-partitions-transact-sql
CREATE VIEW ds2sys.partitions AS SELECT CAST(0 AS bigint) AS partition_id, CAST(0 AS int) AS object_id, CAST(0 AS int) AS index_id,
    CAST(0 AS bigint) AS hobt_id, CAST(0 AS bigint) AS rows, CAST(0 AS tinyint) AS data_compression;
GO
-- views: sys-allocation-units-transact-sql
CREATE VIEW ds2sys.allocation_units AS SELECT CAST(0 AS tinyint) AS type, CAST(0 AS bigint) AS container_id, CAST(0 AS int) AS data_space_id,
    CAST(0 AS bigint) AS total_pages, CAST(0 AS bigint) AS used_pages;
GO
-- views: sys-tables-transact-sql, sys-objects-transact-sql
CREATE VIEW ds2sys.tables AS SELECT CAST(N'' AS sysname) AS name, CAST(0 AS int) AS object_id, CAST(0 AS int) AS schema_id, CAST(0 AS bit) AS is_ms_shipped;
GO
CREATE VIEW ds2sys.objects AS SELECT CAST(N'' AS sysname) AS name, CAST(0 AS int) AS object_id, CAST(0 AS int) AS schema_id,
    CAST('' AS char(2)) AS type, CAST(0 AS bit) AS is_ms_shipped;
GO
-- views: sys-triggers-transact-sql
CREATE VIEW ds2sys.triggers AS SELECT CAST(N'' AS sysname) AS name, CAST(0 AS int) AS object_id, CAST(0 AS int) AS parent_id, CAST(0 AS bit) AS is_disabled;
GO
-- views: sys-indexes-transact-sql
CREATE VIEW ds2sys.indexes AS SELECT CAST(0 AS int) AS object_id, CAST(N'' AS sysname) AS name, CAST(0 AS int) AS index_id, CAST(0 AS tinyint) AS type,
    CAST(0 AS int) AS data_space_id;
GO
-- views: sys-filegroups-transact-sql, sys-data-spaces-transact-sql
CREATE VIEW ds2sys.filegroups AS SELECT CAST(N'' AS sysname) AS name, CAST(0 AS int) AS data_space_id;
GO
CREATE VIEW ds2sys.data_spaces AS SELECT CAST(N'' AS sysname) AS name, CAST(0 AS int) AS data_space_id;
GO
-- views: sys-fulltext-indexes-transact-sql, sys-fulltext-catalogs-transact-sql
CREATE VIEW ds2sys.fulltext_indexes AS SELECT CAST(0 AS int) AS object_id, CAST(0 AS bit) AS has_crawl_completed, CAST(N'' AS nvarchar(60)) AS crawl_type_desc;
GO
CREATE VIEW ds2sys.fulltext_catalogs AS SELECT CAST(0 AS int) AS fulltext_catalog_id, CAST(N'' AS sysname) AS name;
GO
-- views: sys-configurations-transact-sql: the values are sql_variant
CREATE VIEW ds2sys.configurations AS SELECT CAST(N'' AS nvarchar(35)) AS name, CAST(0 AS sql_variant) AS value, CAST(0 AS sql_variant) AS value_in_use;
GO
-- views: sys-database-recovery-status-transact-sql
CREATE VIEW ds2sys.database_recovery_status AS SELECT CAST(0 AS int) AS database_id, CAST(NULL AS uniqueidentifier) AS database_guid,
    CAST(NULL AS uniqueidentifier) AS family_guid, CAST(0 AS numeric(25, 0)) AS last_log_backup_lsn;
GO
-- views: sys-sql-logins-transact-sql
CREATE VIEW ds2sys.sql_logins AS SELECT CAST(N'' AS sysname) AS name;
GO
-- views: messages-for-errors-catalog-views-sys-messages
CREATE VIEW ds2sys.messages AS SELECT CAST(0 AS int) AS message_id, CAST(0 AS smallint) AS language_id, CAST(N'' AS nvarchar(2048)) AS text;
GO
-- views: sys-server-memory-optimized-hybrid-buffer-pool-configuration-transact-sql, since 2019
CREATE VIEW ds2sys.server_memory_optimized_hybrid_buffer_pool_configuration AS SELECT CAST(0 AS bit) AS is_configured, CAST(0 AS bit) AS is_enabled;
GO
-- dynamic: sys-dm-exec-sessions-transact-sql
CREATE VIEW ds2sys.dm_exec_sessions AS SELECT CAST(0 AS smallint) AS session_id, CAST(0 AS bit) AS is_user_process, CAST(N'' AS nvarchar(128)) AS host_name,
    CAST(N'' AS nvarchar(128)) AS program_name, CAST(0 AS int) AS host_process_id, CAST(0 AS smallint) AS database_id, CAST(N'' AS nvarchar(30)) AS status;
GO
-- dynamic: sys-dm-exec-requests-transact-sql
CREATE VIEW ds2sys.dm_exec_requests AS SELECT CAST(0 AS smallint) AS session_id, CAST(N'' AS nvarchar(32)) AS command, CAST(0 AS smallint) AS database_id,
    CAST(N'' AS nvarchar(60)) AS wait_type, CAST(0 AS real) AS percent_complete;
GO
-- dynamic: sys-dm-os-performance-counters-transact-sql
CREATE VIEW ds2sys.dm_os_performance_counters AS SELECT CAST(N'' AS nchar(128)) AS object_name, CAST(N'' AS nchar(128)) AS counter_name,
    CAST(N'' AS nchar(128)) AS instance_name, CAST(0 AS bigint) AS cntr_value;
GO
-- dynamic: sys-dm-os-wait-stats-transact-sql
CREATE VIEW ds2sys.dm_os_wait_stats AS SELECT CAST(N'' AS nvarchar(60)) AS wait_type, CAST(0 AS bigint) AS wait_time_ms;
GO
-- dynamic: sys-dm-db-wait-stats-azure-sql-database
CREATE VIEW ds2sys.dm_db_wait_stats AS SELECT CAST(N'' AS nvarchar(60)) AS wait_type, CAST(0 AS bigint) AS wait_time_ms;
GO
-- dynamic: sys-dm-os-sys-info-transact-sql
CREATE VIEW ds2sys.dm_os_sys_info AS SELECT CAST(0 AS int) AS cpu_count, CAST(0 AS bigint) AS committed_kb, CAST(0 AS bigint) AS committed_target_kb,
    CAST(0 AS datetime) AS sqlserver_start_time;
GO
-- dynamic: sys-dm-os-sys-memory-transact-sql
CREATE VIEW ds2sys.dm_os_sys_memory AS SELECT CAST(0 AS bigint) AS total_physical_memory_kb;
GO
-- dynamic: sys-dm-os-host-info-transact-sql, since 2017
CREATE VIEW ds2sys.dm_os_host_info AS SELECT CAST(N'' AS nvarchar(256)) AS host_distribution, CAST(N'' AS nvarchar(256)) AS host_release;
GO
-- dynamic: sys-dm-os-buffer-pool-extension-configuration-transact-sql
CREATE VIEW ds2sys.dm_os_buffer_pool_extension_configuration AS SELECT CAST(N'' AS nvarchar(60)) AS state_description;
GO
-- dynamic: sys-dm-server-services-transact-sql
CREATE VIEW ds2sys.dm_server_services AS SELECT CAST(N'' AS nvarchar(256)) AS filename, CAST(N'' AS nvarchar(1)) AS instant_file_initialization_enabled,
    CAST(0 AS int) AS process_id;
GO
-- dynamic: sys-dm-resource-governor-configuration-transact-sql, sys-dm-resource-governor-resource-pools-transact-sql
CREATE VIEW ds2sys.dm_resource_governor_configuration AS SELECT CAST(0 AS int) AS classifier_function_id, CAST(0 AS bit) AS is_reconfiguration_pending;
GO
CREATE VIEW ds2sys.dm_resource_governor_resource_pools AS SELECT CAST(0 AS int) AS pool_id, CAST(N'' AS sysname) AS name, CAST(0 AS int) AS max_iops_per_volume;
GO
-- dynamic: sys-dm-user-db-resource-governor-azure-sql-database
CREATE VIEW ds2sys.dm_user_db_resource_governance AS SELECT CAST(0 AS int) AS database_id, CAST(0 AS int) AS max_sessions;
GO
-- dynamic: sys-dm-db-log-space-usage-transact-sql
CREATE VIEW ds2sys.dm_db_log_space_usage AS SELECT CAST(0 AS bigint) AS total_log_size_in_bytes, CAST(0 AS bigint) AS used_log_space_in_bytes;
GO
-- dynamic: sys-dm-db-partition-stats-transact-sql
CREATE VIEW ds2sys.dm_db_partition_stats AS SELECT CAST(0 AS int) AS object_id, CAST(0 AS int) AS index_id, CAST(0 AS bigint) AS used_page_count,
    CAST(0 AS bigint) AS reserved_page_count, CAST(0 AS bigint) AS row_count;
GO
-- dynamic: sys-dm-db-log-info-transact-sql, since 2016 SP2
CREATE FUNCTION ds2sys.dm_db_log_info (@database int) RETURNS TABLE AS RETURN SELECT CAST(0 AS bit) AS vlf_active;
GO
-- dynamic: sys-dm-io-virtual-file-stats-transact-sql; the queued times since 2014
CREATE FUNCTION ds2sys.dm_io_virtual_file_stats (@database int, @file int) RETURNS TABLE AS RETURN SELECT CAST(0 AS smallint) AS database_id,
    CAST(0 AS smallint) AS file_id, CAST(0 AS bigint) AS num_of_reads, CAST(0 AS bigint) AS num_of_bytes_read, CAST(0 AS bigint) AS io_stall_read_ms,
    CAST(0 AS bigint) AS io_stall_queued_read_ms, CAST(0 AS bigint) AS num_of_writes, CAST(0 AS bigint) AS num_of_bytes_written,
    CAST(0 AS bigint) AS io_stall_write_ms, CAST(0 AS bigint) AS io_stall_queued_write_ms;
GO
-- dynamic: sys-dm-os-volume-stats-transact-sql
CREATE FUNCTION ds2sys.dm_os_volume_stats (@database int, @file int) RETURNS TABLE AS RETURN SELECT CAST(N'' AS nvarchar(512)) AS volume_mount_point,
    CAST(0 AS bigint) AS total_bytes, CAST(0 AS bigint) AS available_bytes;
GO
-- dynamic: sys-dm-db-index-physical-stats-transact-sql
CREATE FUNCTION ds2sys.dm_db_index_physical_stats (@database smallint, @object int, @index int, @partition int, @mode sysname) RETURNS TABLE AS RETURN
    SELECT CAST(0 AS int) AS object_id, CAST(0 AS int) AS index_id, CAST(0 AS bigint) AS ghost_record_count, CAST(0 AS bigint) AS version_ghost_record_count;
GO
-- system-tables/suspect-pages-transact-sql
CREATE TABLE ds2sys.suspect_pages (database_id int, file_id int, page_id bigint, event_type int, error_count int, last_update_date datetime);
GO
