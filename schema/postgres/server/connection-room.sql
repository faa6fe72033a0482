-- The server, the user, and how many connections each limit allows and has in use.
WITH others AS (
	SELECT usename, datname FROM pg_stat_activity
	WHERE datid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend' AND pid <> ALL ($1))
SELECT current_setting('server_version'), current_setting('server_version_num')::int / 10000, current_user,
	pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on',
	r.rolsuper, pg_has_role(current_user, 'pg_monitor', 'USAGE'),
	current_setting('max_connections')::int,
	(SELECT sum(setting::int) FROM pg_settings
		WHERE name IN ('superuser_reserved_connections', 'reserved_connections')),
	(SELECT count(*) FROM others),
	r.rolconnlimit, (SELECT count(*) FROM others WHERE usename = current_user),
	d.datconnlimit, (SELECT count(*) FROM others WHERE datname = current_database())
FROM pg_roles r, pg_database d
WHERE r.rolname = current_user AND d.datname = current_database()
