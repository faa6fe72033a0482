-- The bytes of the pages in use, of which a backup consists.
SELECT COALESCE(SUM(CAST(FILEPROPERTY(name, 'SpaceUsed') AS bigint)), 0) * 8192
FROM sys.database_files WHERE type = 0
