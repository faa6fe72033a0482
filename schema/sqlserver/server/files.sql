-- The files that hold the database and its log.
SELECT physical_name FROM sys.database_files
