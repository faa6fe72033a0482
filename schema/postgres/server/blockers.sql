-- Whom the processes $1 have waited for longer than $2.
SELECT DISTINCT coalesce(holder.pid, -1), coalesce(h.usename, ''),
	coalesce(nullif(h.application_name, ''), h.backend_type, 'unknown'),
	coalesce(h.state, 'in an unknown state'),
	extract(epoch FROM coalesce(clock_timestamp() - h.state_change, '0'))::bigint,
	coalesce(x.gid, ''), coalesce(x.owner, ''),
	extract(epoch FROM coalesce(clock_timestamp() - x.prepared, '0'))::bigint,
	current_setting('synchronous_standby_names')
FROM pg_stat_activity w
LEFT JOIN LATERAL unnest(pg_blocking_pids(w.pid)) holder (pid) ON w.wait_event_type = 'Lock'
LEFT JOIN pg_stat_activity h ON h.pid = holder.pid
LEFT JOIN pg_prepared_xacts x ON holder.pid = 0 AND x.database = $3
WHERE w.pid = ANY ($1) AND w.state = 'active' AND w.query_start < clock_timestamp() - $2::interval
	AND (w.wait_event = 'SyncRep' OR holder.pid <> ALL ($1))
