-- parameters: @p1 nvarchar(30), @p2 nvarchar(128)
-- How far a command like @p1 on the database @p2 is, in percent, and what it does.
SELECT TOP (1) percent_complete, command FROM sys.dm_exec_requests
WHERE command LIKE @p1 AND database_id IN (DB_ID(@p2), DB_ID('master')) ORDER BY percent_complete DESC
