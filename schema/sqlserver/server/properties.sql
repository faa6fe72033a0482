-- What the server is, and where it keeps new databases.
SELECT
	CAST(SERVERPROPERTY('EngineEdition') AS int),
	CAST(PARSENAME(CAST(SERVERPROPERTY('ProductVersion') AS varchar(50)), 4) AS int),
	COALESCE(CAST(SERVERPROPERTY('Babelfish') AS int), 0),
	COALESCE(CAST(SERVERPROPERTY('IsFullTextInstalled') AS int), 0),
	COALESCE(CAST(SERVERPROPERTY('InstanceDefaultDataPath') AS nvarchar(260)), ''),
	COALESCE(CAST(SERVERPROPERTY('InstanceDefaultLogPath') AS nvarchar(260)), ''),
	CASE WHEN DB_ID('rdsadmin') IS NULL THEN 0 ELSE 1 END
