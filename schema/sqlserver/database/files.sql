-- The files of the database, and those of tempdb, whose names have the server's collation and the database's.
SELECT role, physical_name
FROM (
    SELECT type AS position, CASE type WHEN 1 THEN 'log' ELSE 'data' END AS role, physical_name, file_id FROM sys.database_files WHERE type IN (0, 1)
    UNION ALL SELECT 2, 'temp', physical_name COLLATE DATABASE_DEFAULT, file_id FROM tempdb.sys.database_files WHERE type IN (0, 1)
) AS files
ORDER BY position, file_id
