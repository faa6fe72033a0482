package postgres

import (
	"context"
	"fmt"

	"ds2/internal/store"
)

// The major versions that the kit is made for and tested with.
const (
	oldestVersion = 13
	newestVersion = 18
)

// ownConnections are those of ds2 itself beside its users': counters, and the lock.
const ownConnections = 2

// Examine looks whether the server has what a run needs: store.Capabilities.
func (s *Store) Examine(ctx context.Context, need store.Need) (store.Examination, error) {
	var e store.Examination
	var c connections
	var major int
	var version, user string
	var standby, readOnly, super, monitor, checkpoint bool
	err := s.db.QueryRowContext(ctx, `
		SELECT current_setting('server_version'), current_setting('server_version_num')::int / 10000, current_user,
			pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on',
			r.rolsuper, pg_has_role(current_user, 'pg_monitor', 'USAGE'),
			coalesce((SELECT pg_has_role(current_user, oid, 'USAGE') FROM pg_roles WHERE rolname = 'pg_checkpoint'), false),
			current_setting('max_connections')::int,
			(SELECT sum(setting::int) FROM pg_settings WHERE name IN ('superuser_reserved_connections', 'reserved_connections')),
			(SELECT sum(numbackends) FROM pg_stat_database),
			r.rolconnlimit, (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user),
			d.datconnlimit, (SELECT numbackends FROM pg_stat_database WHERE datname = current_database())
		FROM pg_roles r, pg_database d
		WHERE r.rolname = current_user AND d.datname = current_database()`).
		Scan(&version, &major, &user, &standby, &readOnly, &super, &monitor, &checkpoint,
			&c.max, &c.reserved, &c.inUse, &c.ofRole, &c.ofRoleInUse, &c.ofDatabase, &c.ofDatabaseInUse)
	if err != nil {
		return e, s.Wrap("examine the server", err)
	}
	if super {
		c.reserved, c.ofRole, c.ofDatabase = 0, -1, -1 // they do not hold for it
	}
	e.Findings = append(e.Findings, versionFinding(version, major), writableFinding(standby, readOnly), c.finding(need.Users+ownConnections))
	e.Findings = append(e.Findings, s.rights(ctx, user))
	if !monitor {
		e.Hidden = true
		e.Findings = append(e.Findings, store.Finding{What: "counters", State: store.Warning,
			Found: user + " is no member of pg_monitor: the server tells it neither where the database's files lie, on which drives and with how much room, " +
				"nor what other sessions do",
			Do: fmt.Sprintf("GRANT pg_monitor TO %q", user)})
	}
	var logFindings []store.Finding
	e.LogGrowth, logFindings = s.logGrowth(ctx)
	e.Findings = append(e.Findings, logFindings...)
	return e, ctx.Err()
}

func versionFinding(version string, major int) store.Finding {
	f := store.Finding{What: "version", State: store.OK, Found: "PostgreSQL " + version}
	switch {
	case major < oldestVersion:
		f.State, f.Do = store.Failure, fmt.Sprintf("use PostgreSQL %d to %d", oldestVersion, newestVersion)
	case major > newestVersion:
		f.State, f.Do = store.Warning, fmt.Sprintf("ds2 was tested with %d to %d: look whether the counters are complete", oldestVersion, newestVersion)
	}
	return f
}

func writableFinding(standby, readOnly bool) store.Finding {
	switch {
	case standby:
		return store.Finding{What: "writable", State: store.Failure, Found: "the server is a standby, which is read-only", Do: "name the primary"}
	case readOnly:
		return store.Finding{What: "writable", State: store.Failure, Found: "default_transaction_read_only is on: the changes of a run would fail", Do: "set it off for the database or the user"}
	}
	return store.Finding{What: "writable", State: store.OK, Found: "the server takes changes"}
}

// connections are what a server allows; a limit below 0 is none.
type connections struct {
	max, reserved, inUse        int
	ofRole, ofRoleInUse         int
	ofDatabase, ofDatabaseInUse int
}

// finding says whether so many more fit.
func (c connections) finding(needed int) store.Finding {
	free := c.max - c.reserved - c.inUse
	f := store.Finding{What: "connections", State: store.OK, Do: fmt.Sprintf("raise max_connections by %d or more, and restart the server; or use fewer --threads", needed-free)}
	f.Found = fmt.Sprintf("%d are needed and %d free: max_connections is %d, %d in use", needed, max(free, 0), c.max, c.inUse)
	if c.reserved > 0 {
		f.Found += fmt.Sprintf(", %d reserved", c.reserved)
	}
	for _, limit := range []struct {
		name        string
		most, inUse int
		raise       string
	}{
		{"the user", c.ofRole, c.ofRoleInUse, "ALTER ROLE … CONNECTION LIMIT"},
		{"the database", c.ofDatabase, c.ofDatabaseInUse, "ALTER DATABASE … CONNECTION LIMIT"},
	} {
		if own := limit.most - limit.inUse; limit.most >= 0 && own < free {
			free = own
			f.Found = fmt.Sprintf("%d are needed and %d free: %s may have %d, %d in use", needed, max(free, 0), limit.name, limit.most, limit.inUse)
			f.Do = fmt.Sprintf("raise it by %d or more with %s; or use fewer --threads", needed-free, limit.raise)
		}
	}
	if free < needed {
		f.State = store.Failure
	} else {
		f.Do = ""
	}
	return f
}

// rights looks what the user may not do with the tables and functions.
func (s *Store) rights(ctx context.Context, user string) store.Finding {
	f := store.Finding{What: "rights", State: store.OK, Found: user + " may use all tables and functions"}
	var unread, unwritten, uncalled string
	err := s.db.QueryRowContext(ctx, `
		SELECT coalesce(string_agg(relname, ', ' ORDER BY relname) FILTER (WHERE NOT has_table_privilege(oid, 'SELECT')), ''),
			coalesce(string_agg(relname, ', ' ORDER BY relname) FILTER (WHERE NOT has_table_privilege(oid, 'INSERT') OR NOT has_table_privilege(oid, 'UPDATE')), ''),
			(SELECT coalesce(string_agg(proname, ', ' ORDER BY proname), '') FROM pg_proc
				WHERE pronamespace = current_schema()::regnamespace AND NOT has_function_privilege(oid, 'EXECUTE'))
		FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname NOT LIKE 'ds2\_%'`).Scan(&unread, &unwritten, &uncalled)
	grant := func(what string) string { return fmt.Sprintf("GRANT %s TO %q, or connect as the owner", what, user) }
	switch {
	case err != nil:
		f.State, f.Found, f.Do = store.Warning, "could not be asked: "+s.Wrap("ask for rights", err).Error(), "look whether the user may use the tables"
	case unread != "":
		f.State, f.Found, f.Do = store.Failure, fmt.Sprintf("%s may not read %s", user, unread), grant("SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA …")
	case uncalled != "":
		f.State, f.Found, f.Do = store.Failure, fmt.Sprintf("%s may not call %s", user, uncalled), grant("EXECUTE ON ALL FUNCTIONS IN SCHEMA …")
	case unwritten != "":
		f.State, f.Found, f.Do = store.Warning, fmt.Sprintf("%s may not insert into and update %s", user, unwritten), "if operations then fail: "+grant("INSERT, UPDATE ON ALL TABLES IN SCHEMA …")
	}
	return f
}

// logGrowth is how much the log may still grow until checkpoints hold it, and what keeps more of it than that.
func (s *Store) logGrowth(ctx context.Context) (growth int64, findings []store.Finding) {
	if err := s.db.QueryRowContext(ctx, `SELECT pg_size_bytes(current_setting('max_wal_size'))`).Scan(&growth); err != nil {
		return -1, nil
	}
	var now int64
	if err := s.db.QueryRowContext(ctx, `SELECT coalesce(sum(size), 0) FROM pg_ls_waldir()`).Scan(&now); err == nil { // it takes pg_monitor
		growth = max(growth-now, 0)
	}
	var slots string
	var archiving bool
	err := s.db.QueryRowContext(ctx, `
		SELECT coalesce((SELECT string_agg(slot_name, ', ') FROM pg_replication_slots WHERE NOT active), ''),
			coalesce((SELECT last_failed_time > coalesce(last_archived_time, '-infinity') FROM pg_stat_archiver), false)
				AND current_setting('archive_mode') <> 'off'`).Scan(&slots, &archiving)
	if err != nil {
		return growth, nil
	}
	if slots != "" {
		findings = append(findings, store.Finding{What: "log", State: store.Warning,
			Found: fmt.Sprintf("nobody reads from the replication slots %s: the server keeps all of its log for them, until its drive is full", slots),
			Do:    "start their readers, or drop them with pg_drop_replication_slot"})
	}
	if archiving {
		findings = append(findings, store.Finding{What: "log", State: store.Warning,
			Found: "the archive command fails: the server keeps all of its log until it works, or its drive is full", Do: "look at the server's log, and correct archive_command"})
	}
	return growth, findings
}
