-- Stand-ins for the system objects that ds2 asks, as Microsoft's pages give them: the columns that ds2 uses, their types, and the
-- first version where it is after 2016. No database model holds the server's own. Each is in schema ds2sys, by which
-- .ci/tsql replaces sys, msdb.dbo and tempdb.sys. Before each stands its page, below docs/relational-databases of the repository
-- MicrosoftDocs/sql-docs, and the date of the page (ms.date) by which columns and types were compared:
--   views     system-catalog-views/sys-NAME-transact-sql
--   dynamic   system-dynamic-management-views/sys-NAME-transact-sql
-- A column of type int that is multiplied may overflow: the check finds it by the types here.
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
-- views: databases, of 2023 (commit f29335f9); physical_database_name, accelerated recovery and memory_optimized since 2019
CREATE VIEW ds2sys.databases AS SELECT CAST('' AS sysname) AS name, CAST(0 AS datetime) AS create_date, CAST(0 AS int) AS database_id, CAST(0x0 AS varbinary(85)) AS owner_sid,
    CAST(0 AS tinyint) AS compatibility_level, CAST(N'' AS nvarchar(60)) AS state_desc, CAST(N'' AS nvarchar(60)) AS recovery_model_desc,
    CAST(0 AS tinyint) AS recovery_model, CAST(0 AS int) AS delayed_durability, CAST(0 AS tinyint) AS snapshot_isolation_state,
    CAST(0 AS tinyint) AS page_verify_option, CAST(N'' AS nvarchar(60)) AS page_verify_option_desc, CAST(N'' AS nvarchar(60)) AS delayed_durability_desc,
    CAST(N'' AS nvarchar(60)) AS snapshot_isolation_state_desc, CAST(N'' AS nvarchar(60)) AS containment_desc,
    CAST(N'' AS nvarchar(60)) AS log_reuse_wait_desc, CAST(N'' AS nvarchar(128)) AS physical_database_name, CAST(0 AS int) AS target_recovery_time_in_seconds,
    CAST(0 AS bit) AS is_read_committed_snapshot_on, CAST(0 AS bit) AS is_accelerated_database_recovery_on, CAST(0 AS bit) AS is_query_store_on,
    CAST(0 AS bit) AS is_auto_create_stats_on, CAST(0 AS bit) AS is_auto_update_stats_on, CAST(0 AS bit) AS is_auto_update_stats_async_on,
    CAST(0 AS bit) AS is_parameterization_forced, CAST(0 AS bit) AS is_auto_shrink_on, CAST(0 AS bit) AS is_trustworthy_on,
    CAST(0 AS bit) AS is_encrypted, CAST(0 AS bit) AS is_memory_optimized_enabled, CAST(NULL AS uniqueidentifier) AS replica_id;
GO
-- views: database-files, 2022-04-18; is_persistent_log_buffer is on no page: servers have it since 2016 SP1, and ds2 asks for it alone
CREATE VIEW ds2sys.database_files AS SELECT CAST(0 AS int) AS file_id, CAST(0 AS tinyint) AS type, CAST(0 AS int) AS data_space_id,
    CAST(N'' AS sysname) AS name, CAST(N'' AS nvarchar(260)) AS physical_name, CAST(0 AS int) AS size, CAST(0 AS int) AS max_size, CAST(0 AS int) AS growth,
    CAST(0 AS bit) AS is_percent_growth, CAST(0 AS bit) AS is_persistent_log_buffer;
GO
-- views: master-files, 2016-03-10
CREATE VIEW ds2sys.master_files AS SELECT CAST(0 AS int) AS database_id, CAST(N'' AS sysname) AS name, CAST(N'' AS nvarchar(260)) AS physical_name;
GO
-- views: partitions, 2017-03-14
CREATE VIEW ds2sys.partitions AS SELECT CAST(0 AS bigint) AS partition_id, CAST(0 AS int) AS object_id, CAST(0 AS int) AS index_id,
    CAST(0 AS bigint) AS hobt_id, CAST(0 AS bigint) AS rows, CAST(0 AS tinyint) AS data_compression;
GO
-- views: allocation-units, 2016-06-10
CREATE VIEW ds2sys.allocation_units AS SELECT CAST(0 AS tinyint) AS type, CAST(0 AS bigint) AS container_id, CAST(0 AS int) AS data_space_id,
    CAST(0 AS bigint) AS total_pages, CAST(0 AS bigint) AS used_pages;
GO
-- views: tables, 2017-06-22, which has the columns of objects, 2020-05-20
CREATE VIEW ds2sys.tables AS SELECT CAST(N'' AS sysname) AS name, CAST(0 AS int) AS object_id, CAST(0 AS int) AS schema_id, CAST(0 AS bit) AS is_ms_shipped;
GO
CREATE VIEW ds2sys.objects AS SELECT CAST(N'' AS sysname) AS name, CAST(0 AS int) AS object_id, CAST(0 AS int) AS schema_id,
    CAST('' AS char(2)) AS type, CAST(0 AS bit) AS is_ms_shipped;
GO
-- views: triggers, 2016-06-10
CREATE VIEW ds2sys.triggers AS SELECT CAST(N'' AS sysname) AS name, CAST(0 AS int) AS object_id, CAST(0 AS int) AS parent_id, CAST(0 AS bit) AS is_disabled;
GO
-- views: indexes, 2017-04-18
CREATE VIEW ds2sys.indexes AS SELECT CAST(0 AS int) AS object_id, CAST(N'' AS sysname) AS name, CAST(0 AS int) AS index_id, CAST(0 AS tinyint) AS type,
    CAST(0 AS int) AS data_space_id;
GO
-- views: filegroups, 2016-05-24, which has the columns of data-spaces, 2017-03-17
CREATE VIEW ds2sys.filegroups AS SELECT CAST(N'' AS sysname) AS name, CAST(0 AS int) AS data_space_id;
GO
CREATE VIEW ds2sys.data_spaces AS SELECT CAST(N'' AS sysname) AS name, CAST(0 AS int) AS data_space_id;
GO
-- views: fulltext-indexes and fulltext-catalogs, 2016-06-10
CREATE VIEW ds2sys.fulltext_indexes AS SELECT CAST(0 AS int) AS object_id, CAST(0 AS bit) AS has_crawl_completed, CAST(N'' AS nvarchar(60)) AS crawl_type_desc;
GO
CREATE VIEW ds2sys.fulltext_catalogs AS SELECT CAST(0 AS int) AS fulltext_catalog_id, CAST(N'' AS sysname) AS name;
GO
-- views: configurations, 2016-06-10: the values are sql_variant
CREATE VIEW ds2sys.configurations AS SELECT CAST(0 AS int) AS configuration_id, CAST(N'' AS nvarchar(35)) AS name, CAST(0 AS sql_variant) AS value, CAST(0 AS sql_variant) AS value_in_use;
GO
-- views: database-recovery-status, 2016-08-12
CREATE VIEW ds2sys.database_recovery_status AS SELECT CAST(0 AS int) AS database_id, CAST(NULL AS uniqueidentifier) AS database_guid,
    CAST(NULL AS uniqueidentifier) AS family_guid, CAST(0 AS numeric(25, 0)) AS last_log_backup_lsn;
GO
-- views: sql-logins, 2016-01-20, which has the columns of server-principals
CREATE VIEW ds2sys.sql_logins AS SELECT CAST(N'' AS sysname) AS name;
GO
-- system-catalog-views/messages-for-errors-catalog-views-sys-messages, 2016-06-10
CREATE VIEW ds2sys.messages AS SELECT CAST(0 AS int) AS message_id, CAST(0 AS smallint) AS language_id, CAST(N'' AS nvarchar(2048)) AS text;
GO
-- database-engine/configure-windows/hybrid-buffer-pool names this view, since 2019; its columns are on no page, and ds2 asks for it alone
CREATE VIEW ds2sys.server_memory_optimized_hybrid_buffer_pool_configuration AS SELECT CAST(0 AS bit) AS is_configured, CAST(0 AS bit) AS is_enabled;
GO
-- dynamic: dm-exec-sessions, 2019-06-03
CREATE VIEW ds2sys.dm_exec_sessions AS SELECT CAST(0 AS smallint) AS session_id, CAST(0 AS bit) AS is_user_process, CAST(N'' AS nvarchar(128)) AS host_name,
    CAST(N'' AS nvarchar(128)) AS program_name, CAST(0 AS int) AS host_process_id, CAST(0 AS smallint) AS database_id, CAST(N'' AS nvarchar(30)) AS status;
GO
-- dynamic: dm-exec-requests, 2017-08-25
CREATE VIEW ds2sys.dm_exec_requests AS SELECT CAST(0 AS smallint) AS session_id, CAST(N'' AS nvarchar(32)) AS command, CAST(0 AS smallint) AS database_id,
    CAST(N'' AS nvarchar(60)) AS wait_type, CAST(0 AS real) AS percent_complete;
GO
-- dynamic: dm-os-performance-counters, 2017-03-13
CREATE VIEW ds2sys.dm_os_performance_counters AS SELECT CAST(N'' AS nchar(128)) AS object_name, CAST(N'' AS nchar(128)) AS counter_name,
    CAST(N'' AS nchar(128)) AS instance_name, CAST(0 AS bigint) AS cntr_value;
GO
-- dynamic: dm-os-wait-stats, 2018-12-04
CREATE VIEW ds2sys.dm_os_wait_stats AS SELECT CAST(N'' AS nvarchar(60)) AS wait_type, CAST(0 AS bigint) AS wait_time_ms;
GO
-- system-dynamic-management-views/sys-dm-db-wait-stats-azure-sql-database, 2017-03-14: of Azure alone
CREATE VIEW ds2sys.dm_db_wait_stats AS SELECT CAST(N'' AS nvarchar(60)) AS wait_type, CAST(0 AS bigint) AS wait_time_ms;
GO
-- dynamic: dm-os-sys-info, 2022-04-27
CREATE VIEW ds2sys.dm_os_sys_info AS SELECT CAST(0 AS int) AS cpu_count, CAST(0 AS int) AS committed_kb, CAST(0 AS int) AS committed_target_kb,
    CAST(0 AS datetime) AS sqlserver_start_time;
GO
-- dynamic: dm-os-sys-memory, 2017-03-15
CREATE VIEW ds2sys.dm_os_sys_memory AS SELECT CAST(0 AS bigint) AS total_physical_memory_kb;
GO
-- dynamic: dm-os-host-info, 2017-02-10, since 2017
CREATE VIEW ds2sys.dm_os_host_info AS SELECT CAST(N'' AS nvarchar(256)) AS host_distribution, CAST(N'' AS nvarchar(256)) AS host_release;
GO
-- dynamic: dm-os-buffer-pool-extension-configuration, 2017-09-08
CREATE VIEW ds2sys.dm_os_buffer_pool_extension_configuration AS SELECT CAST(N'' AS nvarchar(60)) AS state_description;
GO
-- dynamic: dm-server-services, 2017-03-28; instant_file_initialization_enabled since 2016 SP1
CREATE VIEW ds2sys.dm_server_services AS SELECT CAST(N'' AS nvarchar(256)) AS filename, CAST(N'' AS nvarchar(1)) AS instant_file_initialization_enabled,
    CAST(0 AS int) AS process_id;
GO
-- dynamic: dm-resource-governor-configuration, 2016-06-10, and dm-resource-governor-resource-pools, 2018-04-24
CREATE VIEW ds2sys.dm_resource_governor_configuration AS SELECT CAST(0 AS int) AS classifier_function_id, CAST(0 AS bit) AS is_reconfiguration_pending;
GO
CREATE VIEW ds2sys.dm_resource_governor_resource_pools AS SELECT CAST(0 AS int) AS pool_id, CAST(N'' AS sysname) AS name, CAST(0 AS int) AS max_iops_per_volume;
GO
-- system-dynamic-management-views/sys-dm-user-db-resource-governor-azure-sql-database, 2019-11-17: of Azure alone
CREATE VIEW ds2sys.dm_user_db_resource_governance AS SELECT CAST(0 AS int) AS database_id, CAST(0 AS int) AS max_sessions;
GO
-- dynamic: dm-db-log-space-usage, 2017-06-29
CREATE VIEW ds2sys.dm_db_log_space_usage AS SELECT CAST(0 AS bigint) AS total_log_size_in_bytes, CAST(0 AS bigint) AS used_log_space_in_bytes;
GO
-- dynamic: dm-db-partition-stats, 2020-05-28
CREATE VIEW ds2sys.dm_db_partition_stats AS SELECT CAST(0 AS int) AS object_id, CAST(0 AS int) AS index_id, CAST(0 AS bigint) AS used_page_count,
    CAST(0 AS bigint) AS reserved_page_count, CAST(0 AS bigint) AS row_count;
GO
-- dynamic: dm-db-log-info, 2017-05-02, since 2016 SP2
CREATE FUNCTION ds2sys.dm_db_log_info (@database int) RETURNS TABLE AS RETURN SELECT CAST(0 AS bit) AS vlf_active;
GO
-- dynamic: dm-io-virtual-file-stats, 2017-05-11
CREATE FUNCTION ds2sys.dm_io_virtual_file_stats (@database int, @file int) RETURNS TABLE AS RETURN SELECT CAST(0 AS smallint) AS database_id,
    CAST(0 AS smallint) AS file_id, CAST(0 AS bigint) AS num_of_reads, CAST(0 AS bigint) AS num_of_bytes_read, CAST(0 AS bigint) AS io_stall_read_ms,
    CAST(0 AS bigint) AS io_stall_queued_read_ms, CAST(0 AS bigint) AS num_of_writes, CAST(0 AS bigint) AS num_of_bytes_written,
    CAST(0 AS bigint) AS io_stall_write_ms, CAST(0 AS bigint) AS io_stall_queued_write_ms;
GO
-- dynamic: dm-os-volume-stats, 2017-02-02
CREATE FUNCTION ds2sys.dm_os_volume_stats (@database int, @file int) RETURNS TABLE AS RETURN SELECT CAST(N'' AS nvarchar(512)) AS volume_mount_point,
    CAST(0 AS bigint) AS total_bytes, CAST(0 AS bigint) AS available_bytes;
GO
-- dynamic: dm-db-index-physical-stats, 2016-06-10
CREATE FUNCTION ds2sys.dm_db_index_physical_stats (@database smallint, @object int, @index int, @partition int, @mode sysname) RETURNS TABLE AS RETURN
    SELECT CAST(0 AS int) AS object_id, CAST(0 AS int) AS index_id, CAST(0 AS bigint) AS ghost_record_count, CAST(0 AS bigint) AS version_ghost_record_count;
GO
-- system-tables/suspect-pages-transact-sql, 2016-06-10
CREATE TABLE ds2sys.suspect_pages (database_id int, file_id int, page_id bigint, event_type int, error_count int, last_update_date datetime);
GO
-- The catalog is made inside of an IF, whose body the model does not always take for a definition.
CREATE FULLTEXT CATALOG DS2_FULLTEXT;
