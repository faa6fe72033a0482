-- The bytes of two databases, and the directories in which they lie.
SELECT coalesce(max(pg_database_size(oid)) FILTER (WHERE datname = $1), 0)::bigint,
	coalesce(max(pg_database_size(oid)) FILTER (WHERE datname = $2), 0)::bigint,
	ARRAY (SELECT DISTINCT coalesce(nullif(pg_tablespace_location(t.oid), ''),
			(SELECT setting FROM pg_settings WHERE name = 'data_directory'), '')
		FROM pg_tablespace t, pg_database d
		WHERE d.datname IN ($1, $2) AND (t.oid = d.dattablespace
			OR t.spcname <> 'pg_global' AND d.oid IN (SELECT pg_tablespace_databases(t.oid))))
FROM pg_database WHERE datname IN ($1, $2)
