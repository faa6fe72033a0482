-- Whom the processes $1 have waited for longer than $2: a name of each, and what is to be said. $3 is the database.
WITH blockers AS (
	SELECT DISTINCT coalesce(holder.pid, -1) AS pid, h.usename, x.gid, x.owner,
		coalesce(nullif(h.application_name, ''), h.backend_type, 'unknown') AS name,
		coalesce(h.state, 'in an unknown state') AS state,
		extract(epoch FROM coalesce(clock_timestamp() - h.state_change, '0'))::bigint AS held,
		extract(epoch FROM coalesce(clock_timestamp() - x.prepared, '0'))::bigint AS prepared
	FROM pg_stat_activity w
	LEFT JOIN LATERAL unnest(pg_blocking_pids(w.pid)) holder (pid) ON w.wait_event_type = 'Lock'
	LEFT JOIN pg_stat_activity h ON h.pid = holder.pid
	LEFT JOIN pg_prepared_xacts x ON holder.pid = 0 AND x.database = $3
	WHERE w.pid = ANY ($1) AND w.state = 'active' AND w.query_start < clock_timestamp() - $2::interval
		AND (w.wait_event = 'SyncRep' OR holder.pid <> ALL ($1))
)
SELECT CASE pid WHEN -1 THEN 'standby' WHEN 0 THEN 'prepared ' || coalesce(gid, '') ELSE pid::text END,
	CASE pid WHEN -1 THEN format('commits wait for a synchronous standby: synchronous_standby_names is "%s"',
			current_setting('synchronous_standby_names'))
		WHEN 0 THEN format('a lock may be held by the prepared transaction "%s" of %s, %s s old: '
			'commit it by COMMIT PREPARED, or ROLLBACK PREPARED', gid, owner, prepared)
		ELSE format('process %s holds a lock: %s of user %s, %s for %s s; '
			'it ends by itself, or by SELECT pg_terminate_backend(%s)', pid, name, usename, state, held, pid) END
FROM blockers
