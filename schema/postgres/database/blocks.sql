-- The major version, the bytes of the table $1, and those of a block.
SELECT current_setting('server_version_num')::int / 10000, pg_relation_size($1::text::regclass),
	current_setting('block_size')::bigint
