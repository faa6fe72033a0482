-- Notes which statistics of the planner the table $1 has, as a sum of them.
INSERT INTO ds2_info (name, value)
SELECT 'statistics of ' || c.relname, (SELECT coalesce(md5(string_agg(s::text, ' ' ORDER BY s.attname)), '')
	FROM pg_stats s JOIN pg_namespace n ON n.nspname = s.schemaname
	WHERE n.oid = c.relnamespace AND s.tablename = c.relname)
FROM pg_class c WHERE c.oid = $1::text::regclass
ON CONFLICT (name) DO UPDATE SET value = excluded.value
