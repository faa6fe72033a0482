-- Prepares a session for reading large tables: whole ranges are joined; $1: whether single rows may be looked up by an index.
SELECT set_config(name, value, false) FROM (VALUES
	('work_mem', '64MB'), ('jit', 'off'), ('max_parallel_workers_per_gather', '0'),
	('enable_nestloop', 'off'), ('random_page_cost', '1.1'), ('enable_indexscan', $1)) v (name, value)
