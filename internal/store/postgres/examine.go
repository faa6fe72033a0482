package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"ds2/internal/store"
	"ds2/schema"
)

// obstacles are what may stand in the way of users. The statement of each has its name.
var obstacles = []store.FindingKind{
	store.NoStandby,
	store.RowsHidden,
	store.TriggersOff,
	store.TimeLimits,
	store.IdleTimeLimit,
	store.IONotTimed,
	store.PreparedTransactions,
	store.OpenTransactions,
	store.NoReplicaIdentity,
	store.LogicalSlots,
	store.SlotsNotRead,
	store.ArchivingFails,
	store.CountersHidden,
}

// Examine looks whether the server has what a run needs: preflight.Examiner. What is looked at is
// in the SQL.
func (s *Store) Examine(ctx context.Context, users int) (e store.Examination, err error) {
	e.LogGrowth = -1 // unknown, until the server tells
	if err = s.examineServer(ctx, &e, users+store.OwnConnections); err != nil {
		return e, s.Wrap("examine the server", err)
	}
	// Each obstacle is asked for by itself: a right that the user lacks hides one and no other.
	for _, kind := range obstacles {
		ask := schema.Check(Engine, "database/obstacles", kind.Name())
		found, err := store.Collect[store.Found](ctx, s.db, ask)
		if err != nil {
			found = append(found, store.Found{Unasked: s.Wrap("ask for it", err)})
		}
		for _, one := range found {
			one.Kind = kind
			e.Findings = append(e.Findings, one)
		}
	}
	s.examinePooler(ctx, &e)

	// Checkpoints hold the log at about max_wal_size. What there is of it now is on the drive
	// already, and no growth.
	growth := query("server/log-growth")
	_ = s.db.QueryRowContext(ctx, growth).Scan(&e.LogGrowth, &e.Hidden) // else it stays unknown
	var size int64
	const ask = "SELECT coalesce(sum(size), 0) FROM pg_ls_waldir()"
	if s.db.QueryRowContext(ctx, ask).Scan(&size) == nil { // it takes pg_monitor
		e.LogGrowth = max(e.LogGrowth-size, 0)
	}
	return e, ctx.Err()
}

// The oldest and the newest version that ds2 was tested with.
const (
	oldestTested = 13
	newestTested = 18
)

// examineServer looks whether the server is one for a run, allows as many connections as are
// needed, and lets the user do what users do.
func (s *Store) examineServer(ctx context.Context, e *store.Examination, needed int) error {
	var major, free int
	var version, why, raise string
	var standby, readOnly bool
	var user, unread, uncalled, unwritten string
	err := s.db.QueryRowContext(ctx, query("server/connection-room"), s.ownProcesses(), needed).
		Scan(&major, &version, &standby, &readOnly, &free, &why, &raise)
	if err == nil {
		err = s.db.QueryRowContext(ctx, query("database/rights")).
			Scan(&user, &unread, &uncalled, &unwritten)
	}
	if err != nil {
		return err
	}
	kind := store.VersionKnown
	switch {
	case major < oldestTested:
		kind = store.VersionTooOld
	case major > newestTested:
		kind = store.VersionUntested
	}
	e.Add(kind, "PostgreSQL "+version, "")
	if standby {
		e.Add(store.Replica, "", "")
	} else {
		e.Judge(!readOnly, store.Writable, store.ReadOnly,
			"default_transaction_read_only is on: the changes of a run would fail",
			"set it off for the database or the user")
	}
	e.Judge(free >= needed, store.EnoughConnections, store.TooFewConnections,
		fmt.Sprintf("%d needed, %d free: %s", needed, free, why), raise)
	switch {
	case unread != "":
		e.Add(store.NoRightToRead, user, unread)
	case uncalled != "":
		e.Add(store.NoRightToCall, user, uncalled)
	default:
		e.Judge(unwritten == "", store.EnoughRights, store.NoRightToWrite, user, unwritten)
	}
	return nil
}

// examinePooler looks whether what answers is a pooler, and whether it gives one session to two
// clients. A server tells the number of a session's process twice, in the protocol as the session
// begins and by pg_backend_pid(): a pooler makes up the first. Two clients that are in no
// transaction share a session where one is taken for each transaction.
func (s *Store) examinePooler(ctx context.Context, e *store.Examination) {
	// A statement that one of the clients has prepared the other finds there already, or its own is
	// gone.
	var pids [2]uint32
	var said uint32
	var err error
	for i := range pids {
		var client *sql.Conn
		if client, err = s.db.Conn(ctx); err != nil {
			break
		}
		defer client.Close()
		_ = client.Raw(func(c any) error {
			said = c.(*stdlib.Conn).Conn().PgConn().PID()
			return nil
		})
		if err = client.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pids[i]); err != nil {
			break
		}
	}
	switch shared := err == nil && pids[0] == pids[1]; {
	case shared || store.Classify(s.Wrap("ask", err)) == store.Config:
		e.Add(store.SessionsShared, "", "")
	case err == nil && said != pids[1]:
		e.Add(store.Pooler, "", "")
	}
}

// advice is a line of the advice on a server's configuration.
type advice struct {
	OnReads bool // it says why reads come from memory
	Text    string
}

// Advise tells what of the server's configuration a storage test should not have: monitor.Adviser.
func (s *Store) Advise(
	ctx context.Context, run time.Duration, memory int64,
) (reads string, others []string, err error) {
	ask := query("database/advice")
	found, err := store.Collect[advice](ctx, s.db, ask, run.Seconds(), memory)
	for _, one := range found {
		if one.OnReads {
			reads = one.Text
		} else {
			others = append(others, one.Text)
		}
	}
	return reads, others, s.Wrap("ask for the server's configuration", err)
}
