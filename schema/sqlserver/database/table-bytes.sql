-- parameters: @p1 nvarchar(776)
-- The bytes of a table's rows, with the upper levels of the key in whose order they lie.
SELECT COALESCE(SUM(a.used_pages), 0) * 8192 FROM sys.allocation_units AS a
JOIN sys.partitions AS p ON p.hobt_id = a.container_id AND p.index_id IN (0, 1)
WHERE p.object_id = OBJECT_ID(@p1)
