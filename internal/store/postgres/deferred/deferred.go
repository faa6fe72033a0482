// Package deferred has PostgreSQL do the work that it has put off: store.DeferredWorker.
package deferred

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

// Worker is a store.DeferredWorker.
type Worker struct{ target.Target }

var _ store.DeferredWorker = Worker{}

// vacuumed are the tables of the schema that the target's connections use.
const vacuumed = `
	SELECT oid::regclass::text, pg_has_role(relowner, 'USAGE') FROM pg_class
	WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind IN ('r', 'm') ORDER BY oid`

// MayCheckpoint asks for the right to run CHECKPOINT: store.Capabilities.
func (s Worker) MayCheckpoint(ctx context.Context) error {
	op := "make a checkpoint on " + s.Label()
	var checkpoint bool
	const ask = `
		SELECT rolsuper OR EXISTS (
			SELECT FROM pg_roles p WHERE p.rolname = 'pg_checkpoint' AND pg_has_role(current_user, p.oid, 'USAGE'))
		FROM pg_roles WHERE rolname = current_user`
	if err := s.DB().QueryRowContext(ctx, ask).Scan(&checkpoint); err != nil {
		return s.Wrap(op, err)
	}
	if !checkpoint {
		hint := fmt.Sprintf("GRANT pg_checkpoint TO %q (PostgreSQL 15 or later), "+
			"or run with --checkpoint-first=false and without --debt", s.User())
		return store.Refuse(op, hint, "the user may not run a checkpoint")
	}
	return nil
}

// CheckDeferred looks for the rights to run CHECKPOINT and VACUUM: store.DeferredWorker.
func (s Worker) CheckDeferred(ctx context.Context) error {
	err := s.MayCheckpoint(ctx)
	if err == nil {
		_, err = s.ownTables(ctx)
	}
	return err
}

// ownTables are the tables to be vacuumed; an error names one that is somebody else's, which VACUUM would leave out.
func (s Worker) ownTables(ctx context.Context) (names []string, err error) {
	op := "do the deferred work of " + s.Label()
	err = store.List(ctx, s.DB(), vacuumed, func(rows *sql.Rows) error {
		var name string
		var own bool
		err := rows.Scan(&name, &own)
		if err == nil && !own {
			return store.Refuse(op, "connect as the owner of the tables, or leave out --debt",
				"the user may not vacuum %s", name)
		}
		names = append(names, name)
		return err
	})
	return names, s.Wrap(op, err)
}

// mostVacuums is how often tables are vacuumed at most. The first time suffices where nobody holds old rows.
const mostVacuums = 3

// DoDeferred makes a checkpoint, vacuums the tables of the target and makes another: store.DeferredWorker.
func (s Worker) DoDeferred(ctx context.Context, step func(name string)) (done store.Deferred, err error) {
	names, err := s.ownTables(ctx)
	if err != nil {
		return done, err
	}
	// A connection of its own, since it is not left as it was found: where the server can, it ends a statement whose
	// client is gone.
	config, err := s.Config(ctx)
	if err != nil {
		return done, err
	}
	config.BuildContextWatcherHandler = target.CancelStatement
	op := "do the deferred work of " + s.Label()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return done, s.Wrap(op, err)
	}
	defer target.Disconnect(conn)
	do := func(name, statement string) error {
		step(name)
		_, err := conn.Exec(ctx, statement)
		return s.Wrap(fmt.Sprintf("%s: %s", op, name), err)
	}
	const prepare = `SELECT count(set_config(name, CASE name WHEN 'statement_timeout' THEN '0' ELSE '1s' END, false))
		FROM pg_settings WHERE name IN ('statement_timeout', 'client_connection_check_interval')`
	if _, err := conn.Exec(ctx, prepare); err != nil {
		return done, s.Wrap(op, err)
	}
	if done.Before, err = s.deadRows(ctx, conn); err != nil {
		return done, err
	}
	if err := do("checkpoint", "CHECKPOINT"); err != nil {
		return done, err
	}
	for range mostVacuums {
		if err := do("vacuum", "VACUUM (INDEX_CLEANUP ON) "+strings.Join(names, ", ")); err != nil {
			return done, err
		}
		if err := do("checkpoint after the vacuum", "CHECKPOINT"); err != nil {
			return done, err
		}
		was := done.After
		if done.After, err = s.deadRows(ctx, conn); err != nil || done.After == 0 || done.After == was {
			return done, err
		}
	}
	return done, nil
}

// statisticsTime is how long a server may take to count what was just done.
const statisticsTime = time.Second

// deadRows are the rows that the server counts as dead in the tables of the target.
func (s Worker) deadRows(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	progress.Pause(ctx, statisticsTime)
	const ask = `SELECT coalesce(sum(n_dead_tup), 0)::bigint
		FROM pg_stat_user_tables WHERE schemaname = current_schema()`
	err = conn.QueryRow(ctx, ask).Scan(&n)
	return n, s.Wrap("do the deferred work of "+s.Label(), err)
}
