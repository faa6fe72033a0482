SELECT name, COALESCE(CAST(value_in_use AS varchar(100)), '') FROM sys.configurations
UNION ALL
SELECT 'database recovery model', COALESCE(CAST(DATABASEPROPERTYEX(DB_NAME(), 'Recovery') AS varchar(100)), '')
UNION ALL
SELECT 'database collation', COALESCE(CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS varchar(100)), '')
UNION ALL
SELECT 'server edition', COALESCE(CAST(SERVERPROPERTY('Edition') AS varchar(100)), '')
