-- What may stand in the way of users, or of what restores the database: each statement gives findings, with what, state, found
-- and do. One that the user may not run is a finding itself, by its name.

-- name: rights
-- Of the workload's tables and functions, which are those of the owner of ds2_info that are no extension's.
WITH t AS (
	SELECT relname, has_table_privilege(oid, 'SELECT') AS readable,
		has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE') AS writable
	FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'
		AND relname NOT LIKE 'ds2\_%'
		AND relowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('ds2_info'))
		AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = oid AND deptype = 'e')
), denied AS (
	SELECT string_agg(relname, ', ' ORDER BY relname) FILTER (WHERE NOT readable) AS unread,
		string_agg(relname, ', ' ORDER BY relname) FILTER (WHERE NOT writable) AS unwritten,
		(SELECT string_agg(proname, ', ' ORDER BY proname) FROM pg_proc
			WHERE pronamespace = quote_ident(current_schema())::regnamespace
				AND proowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('ds2_info'))
				AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = oid AND deptype = 'e')
				AND NOT has_function_privilege(oid, 'EXECUTE')) AS uncalled
	FROM t
), judged AS (
	SELECT 1 AS position, 'failure' AS state, ' may not read ' || unread AS found,
		'GRANT SELECT, INSERT, UPDATE ON ALL TABLES' AS right_to FROM denied WHERE unread IS NOT NULL
	UNION ALL
	SELECT 2, 'failure', ' may not call ' || uncalled, 'GRANT EXECUTE ON ALL FUNCTIONS' FROM denied WHERE uncalled IS NOT NULL
	UNION ALL
	SELECT 3, 'warning', ' may not insert into and update ' || unwritten,
		'if operations then fail: GRANT INSERT, UPDATE ON ALL TABLES' FROM denied WHERE unwritten IS NOT NULL
	UNION ALL
	SELECT 4, 'ok', ' may use all tables and functions', ''
)
SELECT 'rights', state, current_user || found,
	format('%s IN SCHEMA … TO "%s", or connect as the owner', right_to, current_user)
FROM judged ORDER BY position LIMIT 1

-- name: synchronous standby
SELECT 'synchronous standby', 'failure',
	format('synchronous_standby_names is %L, and no standby is connected: each commit would wait for ever',
		current_setting('synchronous_standby_names')), 'start the standby, or empty synchronous_standby_names'
WHERE current_setting('synchronous_standby_names') <> ''
	AND current_setting('synchronous_commit') NOT IN ('off', 'local')
	AND NOT EXISTS (SELECT FROM pg_stat_replication)

-- name: row security
SELECT 'row security', 'failure',
	'policies hide rows of ' || string_agg(relname, ', ' ORDER BY relname) || ' from ' || current_user,
	'ALTER TABLE … DISABLE ROW LEVEL SECURITY, or connect as the owner'
FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'
	AND row_security_active(oid) HAVING count(*) > 0

-- name: triggers
SELECT 'triggers', 'failure', 'session_replication_role is replica: no foreign key is checked and no trigger fires',
	'ALTER ROLE … RESET session_replication_role, also in the database and the server'
WHERE current_setting('session_replication_role') = 'replica'

-- name: time limits
SELECT 'time limits', 'warning', string_agg(format('%s is %s ms', name, reset_val), ', ' ORDER BY name)
	|| ': the server ends what takes longer, which counts as errors', 'set them to 0 for the user'
FROM pg_settings WHERE reset_val NOT IN ('0', '-1') AND name IN ('statement_timeout', 'lock_timeout',
	'transaction_timeout', 'idle_in_transaction_session_timeout') HAVING count(*) > 0
UNION ALL
SELECT 'time limits', 'ok', format('idle_session_timeout is %s ms, which ds2 turns off in its own sessions', reset_val), ''
FROM pg_settings WHERE name = 'idle_session_timeout' AND reset_val <> '0'

-- name: I/O times
SELECT 'I/O times', 'warning', string_agg(name, ' and ' ORDER BY name) || ' off: how long the server waits for '
	|| string_agg(CASE name WHEN 'track_io_timing' THEN 'reads' ELSE 'its log' END, ' and ' ORDER BY name)
	|| ' stays unknown, and limits on these see the drives alone, not what holds I/Os back above them',
	'ALTER SYSTEM SET … = on, and SELECT pg_reload_conf(); it costs two clock readings per I/O, which '
	|| 'pg_test_timing measures: tens of nanoseconds each, on some virtual machines a microsecond'
FROM pg_settings
WHERE name IN ('track_io_timing', 'track_wal_io_timing') AND setting = 'off' HAVING count(*) > 0

-- name: prepared transactions
SELECT 'prepared transactions', 'warning', string_agg(format('%L of %s, %s s old', gid, owner,
	extract(epoch FROM now() - prepared)::bigint), ', ' ORDER BY prepared) || ', may hold locks',
	'COMMIT PREPARED or ROLLBACK PREPARED ends each'
FROM pg_prepared_xacts WHERE database = current_database() HAVING count(*) > 0

-- name: open transactions
SELECT 'open transactions', 'warning',
	string_agg(format('process %s (%s of %s, %s for %s s)', pid, coalesce(nullif(application_name, ''), 'no name'),
		usename, state, extract(epoch FROM now() - xact_start)::bigint), ', ' ORDER BY xact_start) || ' may hold locks',
	'end them, or SELECT pg_terminate_backend(…)'
FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
	AND xact_start < now() - interval '10 s' HAVING count(*) > 0

-- name: publications
SELECT 'publications', 'warning', string_agg(DISTINCT p.tablename, ', ')
	|| ' are published and have no replica identity: ds2 reset cannot remove rows of them',
	'ALTER TABLE … REPLICA IDENTITY FULL, or restore by --restore snapshot'
FROM pg_publication_tables p
JOIN pg_publication b ON b.pubname = p.pubname AND (b.pubupdate OR b.pubdelete)
JOIN pg_class c ON c.relnamespace = quote_ident(p.schemaname)::regnamespace AND c.relname = p.tablename
WHERE p.schemaname = current_schema() AND p.tablename NOT LIKE 'ds2\_%' AND (c.relreplident = 'n'
	OR c.relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary))
HAVING count(*) > 0

-- name: replication slots
SELECT 'replication slots', 'warning', string_agg(slot_name, ', ')
	|| ' are logical slots of this database: it cannot be restored from a snapshot',
	'drop them with pg_drop_replication_slot if they are not needed'
FROM pg_replication_slots WHERE database = current_database() HAVING count(*) > 0

-- name: log
SELECT 'log', 'warning', format('no client reads from the replication slots %s: the server keeps all of its log for them, '
	'until its drive is full', string_agg(slot_name, ', ')),
	'start their readers, or drop them with pg_drop_replication_slot'
FROM pg_replication_slots WHERE NOT active HAVING count(*) > 0

-- name: archived log
SELECT 'log', 'warning',
	'the archive command fails: the server keeps all of its log until it works, or its drive is full',
	'look at the server''s log, and correct archive_command'
FROM pg_stat_archiver WHERE last_failed_time > coalesce(last_archived_time, '-infinity')
	AND current_setting('archive_mode') <> 'off'

-- name: counters
SELECT 'counters', 'warning', format('%s is not a member of pg_monitor: file locations, drives, free space and other '
	'sessions are hidden', current_user), format('GRANT pg_monitor TO "%s"', current_user)
WHERE NOT pg_has_role(current_user, 'pg_monitor', 'USAGE')
