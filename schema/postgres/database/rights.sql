-- The user, the workload's tables that it may not read, its functions that it may not call, and its tables that it may not
-- write: of those of the owner of ds2_info that are no extension's.
SELECT current_user, coalesce(string_agg(relname, ', ' ORDER BY relname) FILTER (WHERE NOT has_table_privilege(oid, 'SELECT')), ''),
	coalesce((SELECT string_agg(proname, ', ' ORDER BY proname) FROM pg_proc
		WHERE pronamespace = quote_ident(current_schema())::regnamespace
			AND proowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('ds2_info'))
			AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = oid AND deptype = 'e')
			AND NOT has_function_privilege(oid, 'EXECUTE')), ''),
	coalesce(string_agg(relname, ', ' ORDER BY relname) FILTER (
		WHERE NOT (has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE'))), '')
FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'
	AND relname NOT LIKE 'ds2\_%'
	AND relowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('ds2_info'))
	AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = oid AND deptype = 'e')
