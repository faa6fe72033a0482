-- Rows of the user's schema that were deleted and still lie in their pages. Of an index of 10,000 pages and more it reads one page
-- in a hundred.
SELECT COALESCE(SUM(COALESCE(ghost_record_count, 0) + COALESCE(version_ghost_record_count, 0)), 0)
FROM sys.dm_db_index_physical_stats(DB_ID(), NULL, NULL, NULL, 'SAMPLED')
WHERE OBJECT_SCHEMA_NAME(object_id) = SCHEMA_NAME()
