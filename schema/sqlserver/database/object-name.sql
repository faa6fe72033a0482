-- parameters: @p1 bigint
-- The name of the table of number @p1, with its schema; no row where it has none.
SELECT OBJECT_SCHEMA_NAME(@p1) + '.' + OBJECT_NAME(@p1) WHERE OBJECT_NAME(@p1) IS NOT NULL
