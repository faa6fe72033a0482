-- The files of a database and their bytes.
WITH places (dir) AS (
	SELECT 'base/' || oid FROM pg_database WHERE datname = $1
	UNION ALL
	SELECT 'pg_tblspc/' || t.oid || '/' || v || '/' || d.oid
	FROM pg_database d, pg_tablespace t, pg_ls_dir('pg_tblspc/' || t.oid, true, false) v
	WHERE d.datname = $1 AND v LIKE 'PG_' || current_setting('server_version_num')::integer / 10000 || '_%'
)
SELECT dir || '/' || file AS path, coalesce((pg_stat_file(dir || '/' || file, true)).size, 0) AS size
FROM places, pg_ls_dir(dir, true, false) file
