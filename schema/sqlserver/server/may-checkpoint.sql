-- Whether the user may run a checkpoint.
SELECT CAST(COALESCE(
	HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), 'DATABASE', 'CHECKPOINT'), 0) AS bit)
