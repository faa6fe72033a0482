-- Where each table and index lies, and its bytes.
SELECT c.relname, CASE c.relkind WHEN 'i' THEN 'index' ELSE 'table' END,
	t.spcname || coalesce(' (' || nullif(pg_tablespace_location(t.oid), '') || ')', ''),
	pg_table_size(c.oid)
FROM pg_class c
JOIN pg_database d ON d.datname = current_database()
JOIN pg_tablespace t ON t.oid = CASE c.reltablespace WHEN 0 THEN d.dattablespace ELSE c.reltablespace END
WHERE c.relkind IN ('r', 'i') AND c.relnamespace = quote_ident(current_schema())::regnamespace
ORDER BY 4 DESC, 1
