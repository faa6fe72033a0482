-- The functions of amcheck, and whether the user may call them.
SELECT p.proname, has_function_privilege(p.oid, 'EXECUTE'), p.oid::regprocedure::text FROM pg_proc p
JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid
WHERE e.extname = 'amcheck' AND (p.proname IN ('verify_heapam', 'gin_index_check')
	OR p.proname = 'bt_index_parent_check' AND p.pronargs = 2)
