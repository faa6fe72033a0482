-- parameters: @p1 nvarchar(16)
-- The name of a session that holds the lock @p1.
SELECT TOP (1) program_name FROM sys.dm_exec_sessions
WHERE program_name LIKE 'ds2 %' + @p1 AND session_id <> @@SPID ORDER BY session_id
