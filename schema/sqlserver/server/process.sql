-- SQL Server is one process, which makes tempdb as it starts.
SELECT CAST(SERVERPROPERTY('ProcessID') AS int), 'sqlservr', CAST(DATEDIFF(second, create_date, GETDATE()) AS float)
FROM sys.databases WHERE name = 'tempdb'
