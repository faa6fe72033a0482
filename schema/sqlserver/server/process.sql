-- SQL Server is one process, which makes tempdb as it starts. On Linux SERVERPROPERTY('ProcessID') is a number within the server's own
-- layer over the system, so it is told by the port that it listens on.
SELECT CAST(NULL AS int), 'sqlservr', CAST(DATEDIFF(second, create_date, GETDATE()) AS float), CAST(CONNECTIONPROPERTY('local_tcp_port') AS int)
FROM sys.databases WHERE name = 'tempdb'
