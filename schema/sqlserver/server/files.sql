SELECT physical_name FROM sys.database_files WHERE type IN (0, 1) ORDER BY type, file_id -- data, log
