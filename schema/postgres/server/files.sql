-- The directories that hold the database: the cluster, its log, and the tablespaces of its tables and indexes.
SELECT role, path FROM (
    SELECT 1 AS position, 'data' AS role, current_setting('data_directory') AS path
    UNION SELECT 2, 'log', current_setting('data_directory') || '/pg_wal'
    UNION SELECT 3, 'data', pg_tablespace_location(reltablespace) FROM pg_class
    WHERE reltablespace <> 0 AND pg_tablespace_location(reltablespace) <> ''
) files ORDER BY position, path
