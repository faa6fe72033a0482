-- What makes database $2 have the owner, rights, limits, comment and settings of $1: a name and a statement each.
WITH d AS (SELECT * FROM pg_database WHERE datname = $1),
t AS (SELECT * FROM pg_database WHERE datname = $2),
rights AS (
	SELECT t.datname AS made, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee,
		a.privilege_type, a.is_grantable
	FROM d, t, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
	WHERE d.datacl IS DISTINCT FROM t.datacl
), stale AS (
	SELECT DISTINCT t.datname AS made,
		CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
	FROM d, t, aclexplode(coalesce(t.datacl, acldefault('d', t.datdba)) || acldefault('d', d.datdba)) a
	WHERE d.datacl IS DISTINCT FROM t.datacl
), kept AS (
	SELECT split_part(c, '=', 1) AS name, substr(c, strpos(c, '=') + 1) AS value, r.rolname AS role,
		CASE WHEN r.rolname IS NULL THEN format('ALTER DATABASE %I', t.datname)
			ELSE format('ALTER ROLE %I IN DATABASE %I', r.rolname, t.datname) END AS alter
	FROM d CROSS JOIN t JOIN pg_db_role_setting s ON s.setdatabase = d.oid
	CROSS JOIN unnest(s.setconfig) c LEFT JOIN pg_roles r ON r.oid = s.setrole
)
SELECT what, sql FROM (
	SELECT 1, 'the owner ' || pg_get_userbyid(d.datdba),
		format('ALTER DATABASE %I OWNER TO %I', t.datname, pg_get_userbyid(d.datdba))
	FROM d, t WHERE d.datdba <> t.datdba
	UNION ALL
	SELECT 2, 'the connection limit', format('ALTER DATABASE %I CONNECTION LIMIT %s', t.datname, d.datconnlimit)
	FROM d, t WHERE d.datconnlimit <> t.datconnlimit
	UNION ALL
	SELECT 3, 'the comment', format('COMMENT ON DATABASE %I IS %L', t.datname, c.kept)
	FROM d, t, shobj_description(d.oid, 'pg_database') c (kept)
	WHERE c.kept IS DISTINCT FROM shobj_description(t.oid, 'pg_database')
	UNION ALL
	SELECT 4, 'the rights of ' || grantee, format('REVOKE ALL ON DATABASE %I FROM %s CASCADE', made, grantee)
	FROM stale
	UNION ALL
	SELECT 5, 'the right ' || privilege_type || ' of ' || grantee,
		format('GRANT %s ON DATABASE %I TO %s', privilege_type, made, grantee)
			|| CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
	FROM rights
	UNION ALL
	SELECT 6, 'earlier settings', CASE s.setrole WHEN 0 THEN format('ALTER DATABASE %I RESET ALL', t.datname)
		ELSE format('ALTER ROLE %I IN DATABASE %I RESET ALL', pg_get_userbyid(s.setrole), t.datname) END
	FROM t JOIN pg_db_role_setting s ON s.setdatabase = t.oid WHERE EXISTS (SELECT FROM d)
	UNION ALL
	SELECT 7, 'the setting ' || name || coalesce(' of role ' || role, ''), CASE
		WHEN name IN ('search_path', 'temp_tablespaces', 'local_preload_libraries', 'session_preload_libraries')
		THEN format('SELECT set_config(%L, %L, true); %s SET %I FROM CURRENT', name, value, alter, name)
		ELSE format('%s SET %I TO %L', alter, name, value) END
	FROM kept
) s (step, what, sql) ORDER BY step
