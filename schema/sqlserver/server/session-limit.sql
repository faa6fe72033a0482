-- How many sessions the service objective of Azure SQL Database allows.
SELECT max_sessions FROM sys.dm_user_db_resource_governance WHERE database_id = DB_ID() AND max_sessions IS NOT NULL
