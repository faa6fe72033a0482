-- How amcheck checks what is stored by an access method: a statement that gives the place and the words of each fault of the
-- relation $1, or fails of the first; whether the user may call its function, and how that is granted. B-trees and GIN indexes
-- fail, tables give rows; no version has all three.
SELECT c.method, format('SELECT ' || c.fault, n.nspname), has_function_privilege(p.oid, 'EXECUTE'), p.oid::regprocedure::text
FROM (VALUES
	('btree', 'bt_index_parent_check', 2,
		''''', '''' FROM %I.bt_index_parent_check($1::oid::regclass, heapallindexed => true) HAVING count(*) = 0'),
	('gin', 'gin_index_check', 1, ''''', '''' FROM %I.gin_index_check($1::oid::regclass) HAVING count(*) = 0'),
	('heap', 'verify_heapam', NULL, 'format(''block %%s row %%s'', blkno, coalesce(offnum, 0)), msg '
		'FROM %I.verify_heapam($1::oid::regclass, check_toast => true)')) AS c (method, function, arguments, fault)
JOIN pg_proc p ON p.proname = c.function AND p.pronargs = coalesce(c.arguments, p.pronargs)
JOIN pg_namespace n ON n.oid = p.pronamespace
JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid
WHERE e.extname = 'amcheck'
