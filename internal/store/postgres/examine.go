package postgres

import (
	"context"
	"fmt"

	"ds2/internal/store"
	"ds2/schema"
)

// The major versions that the kit is made for and tested with.
const (
	oldestVersion = 13
	newestVersion = 18
)

// Examine looks whether the server has what a run needs: preflight.Examiner.
func (s *Store) Examine(ctx context.Context, users int) (store.Examination, error) {
	var e store.Examination
	var c connections
	var major int
	var version, user string
	var standby, readOnly, super, monitor bool
	err := s.db.QueryRowContext(ctx, schema.Query(Engine, "server/connection-room"), s.ownProcesses()).
		Scan(&version, &major, &user, &standby, &readOnly, &super, &monitor,
			&c.max, &c.reserved, &c.inUse, &c.ofRole, &c.ofRoleInUse,
			&c.ofDatabase, &c.ofDatabaseInUse)
	if err != nil {
		return e, s.Wrap("examine the server", err)
	}
	if super {
		// they do not hold for it
		c.reserved = 0
		c.ofRole = -1
		c.ofDatabase = -1
	}
	state := store.Failure
	do := fmt.Sprintf("use PostgreSQL %d to %d", oldestVersion, newestVersion)
	if major > newestVersion {
		state = store.Warning
		do = fmt.Sprintf("ds2 was tested with %d to %d: check that the counters are complete",
			oldestVersion, newestVersion)
	}
	e.Add(
		"version",
		oldestVersion <= major && major <= newestVersion,
		state,
		"PostgreSQL "+version,
		do,
	)
	switch {
	case standby:
		e.Add(
			"writable",
			false,
			store.Failure,
			"the server is a standby, which is read-only",
			"name the primary",
		)
	case readOnly:
		e.Add(
			"writable",
			false,
			store.Failure,
			"default_transaction_read_only is on: the changes of a run would fail",
			"set it off for the database or the user",
		)
	default:
		e.Add("writable", true, store.OK, "the server accepts writes", "")
	}
	c.examineRoom(&e, users+store.OwnConnections)
	s.examineRights(ctx, &e, user)
	s.examineSurroundings(ctx, &e)
	s.examinePooler(ctx, &e)
	if !monitor {
		e.Hidden = true
		e.Add(
			"counters",
			false,
			store.Warning,
			user+" is not a member of pg_monitor: file locations, drives, free "+
				"space and other sessions are hidden",
			fmt.Sprintf("GRANT pg_monitor TO %q", user),
		)
	}
	e.LogGrowth = s.logGrowth(ctx)
	return e, ctx.Err()
}

// connections are what a server allows; a limit below 0 is none.
type connections struct {
	max, reserved, inUse        int
	ofRole, ofRoleInUse         int
	ofDatabase, ofDatabaseInUse int
}

// examineRoom says whether n more fit.
func (c connections) examineRoom(e *store.Examination, needed int) {
	free := c.max - c.reserved - c.inUse
	why := fmt.Sprintf("max_connections is %d, %d in use", c.max, c.inUse)
	if c.reserved > 0 {
		why += fmt.Sprintf(", %d reserved", c.reserved)
	}
	raise := "raise max_connections by %d or more, and restart the server; or use fewer --threads"
	for _, limit := range []struct {
		name, statement string
		most, inUse     int
	}{
		{"the user", "ALTER ROLE", c.ofRole, c.ofRoleInUse},
		{"the database", "ALTER DATABASE", c.ofDatabase, c.ofDatabaseInUse},
	} {
		if own := limit.most - limit.inUse; limit.most >= 0 && own < free {
			free = own
			raise = "raise it by %d or more with " + limit.statement + " … CONNECTION LIMIT; or use fewer --threads"
			why = fmt.Sprintf("%s may have %d, %d in use", limit.name, limit.most, limit.inUse)
		}
	}
	found := fmt.Sprintf("%d needed, %d free: %s", needed, max(free, 0), why)
	e.Add("connections", free >= needed, store.Failure, found, fmt.Sprintf(raise, needed-free))
}

// examineRights looks what the user may not do with the tables and functions of the workload: those
// of the owner of ds2_info that are no extension's.
func (s *Store) examineRights(ctx context.Context, e *store.Examination, user string) {
	var unread, unwritten, uncalled string
	err := s.db.QueryRowContext(ctx, schema.Query(Engine, "database/rights")).
		Scan(&unread, &unwritten, &uncalled)
	grant := func(what string) string {
		return fmt.Sprintf("GRANT %s TO %q, or connect as the owner", what, user)
	}
	switch {
	case err != nil:
		e.Add(
			"rights",
			false,
			store.Warning,
			"could not be asked: "+s.Wrap("ask for rights", err).Error(),
			"check whether the user may use the tables",
		)
	case unread != "":
		e.Add("rights", false, store.Failure, fmt.Sprintf("%s may not read %s", user, unread),
			grant("SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA …"))
	case uncalled != "":
		e.Add("rights", false, store.Failure, fmt.Sprintf("%s may not call %s", user, uncalled),
			grant("EXECUTE ON ALL FUNCTIONS IN SCHEMA …"))
	case unwritten != "":
		e.Add(
			"rights",
			false,
			store.Warning,
			fmt.Sprintf("%s may not insert into and update %s", user, unwritten),
			"if operations then fail: "+grant("INSERT, UPDATE ON ALL TABLES IN SCHEMA …"),
		)
	default:
		e.Add("rights", true, store.OK, user+" may use all tables and functions", "")
	}
}

// logGrowth is how much the log may still grow until checkpoints hold it.
func (s *Store) logGrowth(ctx context.Context) (growth int64) {
	err := s.db.QueryRowContext(ctx, `SELECT pg_size_bytes(current_setting('max_wal_size'))`).
		Scan(&growth)
	if err != nil {
		return -1
	}
	var now int64
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(sum(size), 0) FROM pg_ls_waldir()`).Scan(&now)
	if err == nil { // it takes pg_monitor
		growth = max(growth-now, 0)
	}
	return growth
}
