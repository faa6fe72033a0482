-- What of the workload's tables the user may not read or write, and which functions it may not call.
WITH t AS (
	SELECT relname, has_table_privilege(oid, 'SELECT') AS readable,
		has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE') AS writable
	FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'
		AND relname NOT LIKE 'ds2\_%'
		AND relowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('ds2_info'))
		AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = oid AND deptype = 'e'))
SELECT coalesce(string_agg(relname, ', ' ORDER BY relname) FILTER (WHERE NOT readable), ''),
	coalesce(string_agg(relname, ', ' ORDER BY relname) FILTER (WHERE NOT writable), ''),
	(SELECT coalesce(string_agg(proname, ', ' ORDER BY proname), '') FROM pg_proc
		WHERE pronamespace = quote_ident(current_schema())::regnamespace
			AND proowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('ds2_info'))
			AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = oid AND deptype = 'e')
			AND NOT has_function_privilege(oid, 'EXECUTE'))
FROM t
