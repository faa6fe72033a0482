SELECT CASE type WHEN 1 THEN 'log' ELSE 'data' END, physical_name FROM sys.database_files WHERE type IN (0, 1) ORDER BY type, file_id
