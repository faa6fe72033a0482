-- Tables with their schemas, in the order in which they were made.
SELECT SCHEMA_NAME(schema_id), name FROM sys.tables WHERE is_ms_shipped = 0 ORDER BY object_id
