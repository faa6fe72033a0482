-- Whether few rows of the table $1 changed since it was last analyzed, whether the server knows when that was, and whether the
-- table has the noted statistics and the server can be made to forget how many rows changed.
SELECT t.n_mod_since_analyze <= 0.05 * c.reltuples,
	coalesce(t.last_analyze, t.last_autoanalyze) IS NOT NULL,
	EXISTS (SELECT FROM ds2_info i WHERE i.name = 'statistics of ' || c.relname
		AND i.value = (SELECT coalesce(md5(string_agg(s::text, ' ' ORDER BY s.attname)), '')
			FROM pg_stats s JOIN pg_namespace n ON n.nspname = s.schemaname
			WHERE n.oid = c.relnamespace AND s.tablename = c.relname))
		AND has_function_privilege('pg_stat_reset_single_table_counters(oid)', 'EXECUTE')
FROM pg_class c JOIN pg_stat_user_tables t ON t.relid = c.oid
WHERE c.oid = $1::text::regclass
