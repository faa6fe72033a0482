-- The share that is done, 0 to 1, of statements that have a means of telling, by process.
SELECT pid, CASE
	WHEN tuples_total > 0 THEN 0.5 + 0.5 * tuples_done / tuples_total
	WHEN blocks_total > 0 THEN 0.5 * blocks_done / blocks_total
	ELSE 0 END
FROM pg_stat_progress_create_index WHERE datname = current_database()
UNION ALL
SELECT pid, heap_blks_scanned::float8 / nullif(heap_blks_total, 0)
FROM pg_stat_progress_vacuum WHERE datname = current_database() AND heap_blks_total > 0
UNION ALL
SELECT pid, sample_blks_scanned::float8 / sample_blks_total
FROM pg_stat_progress_analyze WHERE datname = current_database() AND sample_blks_total > 0
