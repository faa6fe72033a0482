-- Settings of a transaction that builds indexes: memory of $2 bytes, at most $1; $3: without parallel workers.
SELECT set_config(name, '0', true) FROM pg_settings
WHERE source = 'default' AND (name = 'enable_hashjoin' OR $3 AND name = 'max_parallel_maintenance_workers')
UNION ALL
SELECT set_config('maintenance_work_mem', wanted / 1024 || 'kB', true)
FROM pg_size_bytes(current_setting('maintenance_work_mem')) is_now,
	LATERAL (SELECT least(greatest($1, is_now), nullif($2::bigint, 0)) AS wanted) w
WHERE wanted <> is_now
