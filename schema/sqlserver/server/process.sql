-- SQL Server is one process.
SELECT CAST(SERVERPROPERTY('ProcessID') AS int), 'sqlservr'
