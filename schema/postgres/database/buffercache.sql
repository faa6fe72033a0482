-- The schema and the version of pg_buffercache, and whether it can sum up.
SELECT quote_ident(n.nspname), e.extversion, EXISTS (
	SELECT FROM pg_proc p WHERE p.pronamespace = n.oid AND p.proname = 'pg_buffercache_summary')
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_buffercache'
