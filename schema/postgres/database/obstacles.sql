-- What may stand in the way of users, or of what restores the database: each statement gives findings of the kind whose name it has,
-- with detail and more, for which preflight/kinds.tsv has the words. One that the user may not run is a finding itself.

-- name: no standby
SELECT quote_literal(current_setting('synchronous_standby_names')), ''
WHERE current_setting('synchronous_standby_names') <> ''
	AND current_setting('synchronous_commit') NOT IN ('off', 'local')
	AND NOT EXISTS (SELECT FROM pg_stat_replication)

-- name: rows hidden
SELECT string_agg(relname, ', ' ORDER BY relname), current_user
FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'
	AND row_security_active(oid) HAVING count(*) > 0

-- name: triggers off
SELECT '', ''
WHERE current_setting('session_replication_role') = 'replica'

-- name: time limits
SELECT string_agg(format('%s is %s ms', name, reset_val), ', ' ORDER BY name), ''
FROM pg_settings WHERE reset_val NOT IN ('0', '-1') AND name IN ('statement_timeout', 'lock_timeout',
	'transaction_timeout', 'idle_in_transaction_session_timeout') HAVING count(*) > 0

-- name: idle time limit
SELECT reset_val, '' FROM pg_settings WHERE name = 'idle_session_timeout' AND reset_val <> '0'

-- name: I/O not timed
SELECT string_agg(name, ' and ' ORDER BY name),
	string_agg(CASE name WHEN 'track_io_timing' THEN 'reads' ELSE 'its log' END, ' and ' ORDER BY name)
FROM pg_settings
WHERE name IN ('track_io_timing', 'track_wal_io_timing') AND setting = 'off' HAVING count(*) > 0

-- name: prepared transactions
SELECT string_agg(format('%L of %s, %s s old', gid, owner,
	extract(epoch FROM now() - prepared)::bigint), ', ' ORDER BY prepared), ''
FROM pg_prepared_xacts WHERE database = current_database() HAVING count(*) > 0

-- name: open transactions
SELECT string_agg(format('process %s (%s of %s, %s for %s s)', pid, coalesce(nullif(application_name, ''), 'no name'),
		usename, state, extract(epoch FROM now() - xact_start)::bigint), ', ' ORDER BY xact_start), ''
FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
	AND xact_start < now() - interval '10 s' HAVING count(*) > 0

-- name: no replica identity
SELECT string_agg(DISTINCT p.tablename, ', '), ''
FROM pg_publication_tables p
JOIN pg_publication b ON b.pubname = p.pubname AND (b.pubupdate OR b.pubdelete)
JOIN pg_class c ON c.relnamespace = quote_ident(p.schemaname)::regnamespace AND c.relname = p.tablename
WHERE p.schemaname = current_schema() AND p.tablename NOT LIKE 'ds2\_%' AND (c.relreplident = 'n'
	OR c.relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary))
HAVING count(*) > 0

-- name: logical slots
SELECT string_agg(slot_name, ', '), ''
FROM pg_replication_slots WHERE database = current_database() HAVING count(*) > 0

-- name: slots not read
SELECT string_agg(slot_name, ', '), ''
FROM pg_replication_slots WHERE NOT active HAVING count(*) > 0

-- name: archiving fails
SELECT '', ''
FROM pg_stat_archiver WHERE last_failed_time > coalesce(last_archived_time, '-infinity')
	AND current_setting('archive_mode') <> 'off'

-- name: counters hidden
SELECT format('%s is not a member of pg_monitor: file locations, drives, free space and other '
	'sessions are hidden', current_user), format('GRANT pg_monitor TO "%s"', current_user)
WHERE NOT pg_has_role(current_user, 'pg_monitor', 'USAGE')
