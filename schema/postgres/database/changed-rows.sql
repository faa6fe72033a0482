-- How many rows were updated in the tables $1 or, from version 15 on, deleted from the tables $2.
SELECT coalesce(sum(CASE WHEN relname = ANY ($1) THEN n_tup_upd ELSE 0 END
	+ CASE WHEN relname = ANY ($2) AND current_setting('server_version_num')::int >= 150000
		THEN n_tup_del ELSE 0 END), 0)::bigint
FROM pg_stat_user_tables WHERE schemaname = current_schema()
