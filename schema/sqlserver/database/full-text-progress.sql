-- parameters: @p1 nvarchar(128)
-- How much of the full-text index of the table @p1 is filled; no row: all of it.
SELECT COALESCE(
	CAST(OBJECTPROPERTYEX(f.object_id, 'TableFulltextItemCount') AS float) / NULLIF((
		SELECT SUM(rows) FROM sys.partitions AS p
		WHERE p.object_id = f.object_id AND index_id IN (0, 1)), 0), 0)
FROM sys.fulltext_indexes AS f
WHERE object_id = OBJECT_ID(@p1) AND has_crawl_completed = 0
