-- Tables and indexes with their filegroups.
SELECT CASE WHEN i.index_id > 1 THEN i.name ELSE o.name END,
	CASE WHEN i.index_id > 1 THEN 'index' ELSE 'table' END,
	d.name + COALESCE(' (' + CAST(f.files AS varchar(10)) + ' files, ' + f.path + ')', ''), p.bytes
FROM sys.indexes AS i
JOIN sys.objects AS o ON o.object_id = i.object_id AND o.type = 'U' AND o.is_ms_shipped = 0
JOIN sys.data_spaces AS d ON d.data_space_id = i.data_space_id
CROSS APPLY (SELECT SUM(used_page_count) * 8192 AS bytes FROM sys.dm_db_partition_stats
	WHERE object_id = i.object_id AND index_id = i.index_id HAVING COUNT(*) > 0) AS p
OUTER APPLY (SELECT COUNT(*) AS files, MIN(physical_name) AS path FROM sys.database_files
	WHERE data_space_id = d.data_space_id HAVING COUNT(*) > 0) AS f
ORDER BY p.bytes DESC, 1
