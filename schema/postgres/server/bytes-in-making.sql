-- The bytes of databases that are being made.
WITH places (dir) AS (
	SELECT 'base'
	UNION ALL
	SELECT 'pg_tblspc/' || t || '/' || v FROM pg_ls_dir('pg_tblspc') t, pg_ls_dir('pg_tblspc/' || t) v
	WHERE v LIKE 'PG_' || current_setting('server_version_num')::integer / 10000 || '_%'
)
SELECT coalesce(sum((pg_stat_file(dir || '/' || db || '/' || file, true)).size), 0)::bigint
FROM places, pg_ls_dir(dir) db, pg_ls_dir(dir || '/' || db, true, false) file
WHERE db ~ '^[0-9]+$' AND db::oid NOT IN (SELECT oid FROM pg_database)
