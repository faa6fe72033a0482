-- What decides whether the server is one for a run: its version, whether it is a standby or read-only, and how many connections it
-- allows, why, and what to do where these are too few.
-- $1 are the processes of ds2's own sessions, $2 is how many connections are needed.
WITH others AS (
	SELECT usename, datname FROM pg_stat_activity
	WHERE datid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend' AND pid <> ALL ($1)
), server AS (
	SELECT current_setting('server_version_num')::int / 10000 AS major, pg_is_in_recovery() AS standby,
		current_setting('default_transaction_read_only') = 'on' AS read_only, current_setting('max_connections')::int AS most,
		-- what is reserved for superusers, and limits of roles and databases, do not hold for them
		CASE WHEN rolsuper THEN 0 ELSE (SELECT sum(setting::int) FROM pg_settings
			WHERE name IN ('superuser_reserved_connections', 'reserved_connections')) END AS reserved,
		(SELECT count(*) FROM others) AS in_use
	FROM pg_roles WHERE rolname = current_user
), limits AS (
	SELECT 1 AS position, most - reserved - in_use AS free,
		format('max_connections is %s, %s in use', most, in_use) || CASE WHEN reserved > 0
			THEN format(', %s reserved', reserved) ELSE '' END AS why,
		'raise max_connections by %s or more, and restart the server' AS raise
	FROM server
	UNION ALL
	SELECT 2, rolconnlimit - in_use, format('the user may have %s, %s in use', rolconnlimit, in_use),
		'raise it by %s or more with ALTER ROLE … CONNECTION LIMIT'
	FROM pg_roles, (SELECT count(*) AS in_use FROM others WHERE usename = current_user) o
	WHERE rolname = current_user AND NOT rolsuper AND rolconnlimit >= 0
	UNION ALL
	SELECT 3, datconnlimit - in_use, format('the database may have %s, %s in use', datconnlimit, in_use),
		'raise it by %s or more with ALTER DATABASE … CONNECTION LIMIT'
	FROM pg_database, pg_roles, (SELECT count(*) AS in_use FROM others WHERE datname = current_database()) o
	WHERE datname = current_database() AND rolname = current_user AND NOT rolsuper AND datconnlimit >= 0
)
SELECT major, current_setting('server_version'), standby, read_only, greatest(free, 0), why, format(raise, $2::int - free)
FROM server, limits ORDER BY free, position LIMIT 1
