-- What of the server and of the user decides whether there can be a run.
SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), ISNULL(SUSER_SNAME(), ''),
	CAST(CASE DATABASEPROPERTYEX(DB_NAME(), 'Updateability') WHEN 'READ_WRITE' THEN 1 ELSE 0 END AS bit),
	CAST(ISNULL(HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'EXECUTE'), 0) AS bit),
	CAST(ISNULL(CASE SERVERPROPERTY('EngineEdition')
		WHEN 5 THEN HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'VIEW DATABASE STATE')
		WHEN 12 THEN HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'VIEW DATABASE STATE')
		ELSE COALESCE(NULLIF(HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE'), 0),
			HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER PERFORMANCE STATE')) END, 0) AS bit),
	COALESCE(NULLIF((
		SELECT CAST(value_in_use AS int) FROM sys.configurations WHERE name = 'user connections'), 0),
		@@MAX_CONNECTIONS),
	(SELECT COUNT(*) FROM sys.dm_exec_sessions AS s WHERE is_user_process = 1 AND NOT EXISTS (
		SELECT 1 FROM sys.dm_exec_sessions AS own WHERE own.session_id = @@SPID
			AND own.host_name = s.host_name AND own.host_process_id = s.host_process_id))
