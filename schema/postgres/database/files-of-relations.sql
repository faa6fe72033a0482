-- The files of the database's own tables and indexes, about in the order in which they lie on the drive.
SELECT path, bytes FROM (
	SELECT reltablespace, pg_relation_filenode(oid) AS node,
		pg_relation_filepath(oid) AS path, pg_relation_size(oid) AS bytes
	FROM pg_class WHERE relkind IN ('r', 'i', 'm', 'S', 't') AND relpersistence <> 't' AND NOT relisshared) f
WHERE bytes > 0 ORDER BY reltablespace, node
