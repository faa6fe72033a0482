-- The server, whether pages carry checksums, and how many objects and bytes a check reads.
SELECT 'SQL Server ' + CAST(SERVERPROPERTY('ProductVersion') AS varchar(50)),
	(SELECT CASE page_verify_option WHEN 2 THEN 1 ELSE 0 END FROM sys.databases WHERE name = DB_NAME()),
	(SELECT COUNT(*) FROM sys.partitions),
	(SELECT SUM(used_page_count) * 8192 FROM sys.dm_db_partition_stats)
