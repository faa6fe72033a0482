-- parameters: @p1 nvarchar(128)
-- The files of the database @p1, by their names, as master knows them.
SELECT name, physical_name FROM sys.master_files WHERE database_id = DB_ID(@p1)
