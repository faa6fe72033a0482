-- What of the configuration a storage test should not have: whether it is why reads test no storage, and what is to be said.
-- $1 is how many seconds the run lasts, 0 where that is unknown; $2 the memory that the server may use, in bytes, 0: unknown.
WITH room AS (
	SELECT pg_database_size(current_database()) AS size, buffers,
		greatest(buffers, pg_size_bytes(current_setting('effective_cache_size'))) AS cache,
		-- direct I/O goes past the kernel's cache
		CASE WHEN current_setting('debug_io_direct', true) LIKE '%data%' THEN buffers ELSE $2::bigint END AS memory
	FROM pg_size_bytes(current_setting('shared_buffers')) AS buffers
), words AS ( -- sizes in decimal units, as disks are sold: 25.3 GB
	SELECT array_agg(CASE WHEN n < 1e9 THEN round(n / 1e6, 1) || ' MB' ELSE round(n / 1e9, 1) || ' GB' END ORDER BY place) AS of
	FROM room, unnest(ARRAY[size, memory, cache]) WITH ORDINALITY AS sizes (n, place)
)
SELECT true, format('the database of %s fits into the %s of memory that its server may use: its reads come from there '
	'and test no storage', of[1], of[2])
FROM room, words WHERE size < memory
UNION ALL
SELECT true, format('the database of %s fits into the memory that the server counts on for caching, %s (the greater of '
	'shared_buffers and effective_cache_size): the drives see almost no reads', of[1], of[3])
FROM room, words WHERE memory = 0 AND size < cache
UNION ALL
SELECT false, name || ' is off: ' || effect FROM (VALUES
	('fsync', 'commits do not wait for the drives, and a crash may lose the database'),
	('full_page_writes', 'the log is smaller than with it on, and a crash may lose the database'),
	('synchronous_commit', 'commits do not wait for the log, and a crash may lose the last of them'),
	('track_counts', 'autovacuum does not run, and rows that others change are not counted'),
	('track_activities', 'waits and other clients'' sessions are not seen')) AS settings (name, effect)
WHERE current_setting(name) = 'off'
UNION ALL
SELECT false, string_agg(format('%s is %s', name, setting), ', ' ORDER BY name)
	|| ': the server writes a line for each statement, which costs CPU time and writes'
FROM pg_settings WHERE name = 'log_statement' AND setting <> 'none' OR name = 'log_duration' AND setting = 'on'
	OR name = 'log_min_duration_statement' AND setting = '0' HAVING count(*) > 0
UNION ALL
SELECT false, string_agg(format('%s is %s', name, setting), ', ' ORDER BY name)
	|| ', which is not the server''s default: reads and CPU time per statement differ'
FROM pg_settings WHERE setting <> boot_val AND (name LIKE 'enable\_%' OR name LIKE 'jit\_%\_cost'
	OR name IN ('default_transaction_isolation', 'plan_cache_mode')) HAVING count(*) > 0
UNION ALL
SELECT false, format('checkpoint_timeout is %s and the run lasts %s s: it may end before the first checkpoint writes '
	'anything out', current_setting(name), $1::float8)
FROM pg_settings WHERE name = 'checkpoint_timeout' AND $1::float8 > 0 AND setting::int > $1::float8
