-- What tells this server from every other: its name, which containers may share, and when it was started. In Azure SQL
-- Database each database looks like a separate server, which does not see tempdb. All Babelfish servers have one name.
IF SERVERPROPERTY('Babelfish') = 1
    EXEC (N'SELECT CAST(system_identifier AS varchar(50)) FROM pg_control_system()')
ELSE
    SELECT CONCAT(CAST(SERVERPROPERTY('ServerName') AS nvarchar(128)), CASE WHEN SERVERPROPERTY('EngineEdition') IN (5, 12) THEN '/' + DB_NAME() END,
        ' since ', CONVERT(varchar(23), (SELECT create_date FROM sys.databases WHERE name = 'tempdb'), 126))
