-- Who else holds the advisory lock $1, and not $3 where $2.
WITH held AS (
	SELECT pid, (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
	WHERE locktype = 'advisory' AND granted AND objsubid = 1)
SELECT a.application_name FROM held LEFT JOIN pg_stat_activity a USING (pid)
WHERE key = $1 AND pid <> pg_backend_pid() AND (NOT $2 OR pid NOT IN (SELECT pid FROM held WHERE key = $3))
LIMIT 1
