-- The directories that hold the database: its default tablespace, those of its tables and indexes, the log, and tablespaces for
-- temporary files.
SELECT role, coalesce(nullif(pg_tablespace_location(space), ''), current_setting('data_directory')) || below AS path
FROM (
    SELECT 1 AS position, 'data' AS role, dattablespace AS space, '' AS below FROM pg_database WHERE datname = current_database()
    UNION SELECT 2, 'log', oid, '/pg_wal' FROM pg_tablespace WHERE spcname = 'pg_default'
    UNION SELECT 3, 'data', t.oid, '' FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace AND t.spcname <> 'pg_global'
    UNION SELECT 4, 'temp', oid, '' FROM pg_tablespace
    WHERE spcname = ANY (string_to_array(translate(current_setting('temp_tablespaces'), '" ', ''), ','))
) files ORDER BY position, path
