-- Tables, on babelfish, where there are neither filegroups nor views of what an index takes.
SELECT
	name, 'table', 'with its indexes', CAST(pg_total_relation_size(object_id) AS bigint)
FROM sys.tables WHERE is_ms_shipped = 0 ORDER BY 4 DESC, 1
