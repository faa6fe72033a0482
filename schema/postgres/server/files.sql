-- The folders that hold the database: the cluster, its log, and the tablespaces of its tables and indexes.
SELECT current_setting('data_directory')
UNION SELECT current_setting('data_directory') || '/pg_wal'
UNION SELECT pg_tablespace_location(reltablespace) FROM pg_class
WHERE reltablespace <> 0 AND pg_tablespace_location(reltablespace) <> ''
