-- parameters: @p1 nvarchar(776)
-- The bytes of a table with its indexes, on babelfish.
SELECT pg_total_relation_size(OBJECT_ID(@p1))
