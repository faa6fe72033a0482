-- Tables and their indexes with a file, the smallest first.
SELECT c.oid, format('%I.%I', n.nspname, c.relname), coalesce(a.amname, ''),
	coalesce(i.indisvalid AND i.indisready, true), pg_relation_size(c.oid)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_am a ON a.oid = c.relam
LEFT JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relkind IN ('r', 'm', 't', 'i') AND c.relpersistence <> 't' AND pg_relation_size(c.oid) > 0
ORDER BY pg_total_relation_size(coalesce(i.indrelid, c.oid)), coalesce(i.indrelid, c.oid),
	i.indrelid IS NOT NULL, n.nspname, c.relname
