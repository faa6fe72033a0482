package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"ds2/datagen"
	"ds2/internal/store"
	"ds2/schema"
)

// unvacuumed names the note in ds2_info of the tables that a reset has changed and not vacuumed
// yet.
const unvacuumed = "reset_unvacuumed"

// Reset returns the database to its state after the load: load.Resetter.
func (s *Store) Reset(
	ctx context.Context, statements []schema.Statement, parts []datagen.Part, begin func(string),
) error {
	var changed map[string]bool
	err := s.onConn(ctx, func(conn *pgx.Conn) error {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
			changed, err = s.restoreRows(ctx, tx, statements, parts, begin)
			return err
		})
		if err != nil {
			return err
		}
		// The server is to count at once what the session did, or other sessions would not know how
		// much of a table changed, and the next run's audit would take rows that the reset removed
		// for the run's. Versions before 15 cannot, and Changed leaves deleted rows out there.
		_, err = conn.Exec(ctx, query("server/flush-statistics"))
		return err
	})
	if err == nil {
		err = s.tidyTables(ctx, statements, changed, begin)
	}
	if err == nil {
		err = store.SetInfo(ctx, s.db, unvacuumed, "")
	}
	err = s.Wrap("reset "+s.Label(), err)
	if e, ok := errors.AsType[*store.Error](err); ok && e.Code == noReplicaIdentity {
		e.Hint = "ALTER TABLE … REPLICA IDENTITY FULL, or restore by --restore snapshot"
	}
	return err
}

// noReplicaIdentity is the SQLSTATE of a table that does not allow what is asked, as a reset of one
// that is published and has nothing to name its rows by.
const noReplicaIdentity = "55000"

// restoreRows runs the statements that go into one transaction. It returns, and notes in the
// database, the tables that they changed, with those of an earlier reset that ended before it had
// vacuumed them.
func (s *Store) restoreRows(
	ctx context.Context,
	tx pgx.Tx,
	statements []schema.Statement,
	parts []datagen.Part,
	begin func(string),
) (map[string]bool, error) {
	changed := map[string]bool{}
	var noted string
	err := tx.QueryRow(ctx, query("database/read-note"), unvacuumed).Scan(&noted)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	for table := range strings.FieldsSeq(noted) {
		changed[table] = true
	}
	for _, statement := range statements {
		if statement.NoTransaction {
			continue
		}
		begin(statement.Name)
		tag, err := tx.Exec(ctx, statement.SQL)
		if err != nil {
			return nil, s.Wrap(statement.Name, err)
		}
		if (tag.Delete() || tag.Update() || tag.Insert()) && tag.RowsAffected() > 0 {
			changed[statement.Table] = true
		}
		if statement.ThenCopy {
			c := store.Copy{Table: statement.Table, Parts: parts, Whole: true, Told: func(int64) {}}
			if _, err := copyFrom(ctx, tx.Conn(), c); err != nil {
				return nil, err
			}
		}
	}
	names := strings.Join(slices.Sorted(maps.Keys(changed)), " ")
	_, err = tx.Exec(ctx, query("database/note"), unvacuumed, names)
	return changed, err
}

// tidyTables runs the statements that go into no transaction, those of one table in their order and
// all tables at once: to vacuum a table is to read all of its indexes, one page after the other in
// one process. Where the user may not open as many sessions, the tables that have none wait for the
// others.
func (s *Store) tidyTables(
	ctx context.Context, statements []schema.Statement, changed map[string]bool, begin func(string),
) error {
	statements = slices.DeleteFunc(slices.Clone(statements), func(statement schema.Statement) bool {
		untouched := statement.Unless == schema.UnlessUntouched && !changed[statement.Table]
		return !statement.NoTransaction || untouched
	})
	var mu sync.Mutex // of what follows
	var waiting [][]schema.Statement
	tell := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		begin(name)
	}
	atOnce, stop := errgroup.WithContext(ctx)
	atOnce.SetLimit(poolIdle)
	for _, ofTable := range schema.ByTable(statements) {
		atOnce.Go(func() error {
			err := s.tidyTable(stop, ofTable, tell)
			if sqlState(err) == tooManyConnections {
				mu.Lock()
				defer mu.Unlock()
				waiting = append(waiting, ofTable)
				return nil
			}
			return err
		})
	}
	if err := atOnce.Wait(); err != nil {
		return err
	}
	for _, ofTable := range waiting {
		if err := s.tidyTable(ctx, ofTable, tell); err != nil {
			return err
		}
	}
	return nil
}

// tidyTable runs the statements of one table on one connection. Statistics of the planner that are
// still right are kept: to sample the table again would read its pages, and might give other plans.
func (s *Store) tidyTable(
	ctx context.Context,
	statements []schema.Statement,
	begin func(string),
) error {
	return s.onConn(ctx, func(conn *pgx.Conn) error {
		for _, statement := range statements {
			if statement.Unless == schema.UnlessAnalyzed {
				kept, err := keepStatistics(ctx, conn, statement.Table)
				if err != nil {
					return err
				}
				if kept {
					continue
				}
			}
			begin(statement.Name)
			if _, err := conn.Exec(ctx, statement.SQL); err != nil {
				return s.Wrap(statement.Name, err)
			}
			if statement.Unless == schema.UnlessAnalyzed {
				if err := noteStatistics(ctx, conn, statement.Table); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// noteStatistics notes in the database which statistics of the planner a table has that are right
// for its rows, which a run does not change unless the server, or someone else, analyzes the table.
func noteStatistics(ctx context.Context, conn *pgx.Conn, table string) error {
	_, err := conn.Exec(ctx, query("database/note-statistics"), table)
	return err
}

// keepStatistics says whether a table needs no ANALYZE: where few of its rows changed since the
// last one, fewer than half of those of which the server's autovacuum, by its default, would
// analyze it again in mid-run, or else where it has the noted statistics and the server can be made
// to forget how many rows changed. To analyze a table of size W is to read 30,000 pages at random,
// to find what the statistics of the load say. A server that crashed no longer knows when it
// analyzed what, so that few changes then mean nothing.
func keepStatistics(ctx context.Context, conn *pgx.Conn, table string) (kept bool, err error) {
	var few, right, noted bool
	err = conn.QueryRow(ctx, query("database/analyzed"), table).Scan(&few, &right, &noted)
	switch {
	case err == nil && few && right:
		return true, noteStatistics(ctx, conn, table)
	case err != nil || few || !noted:
		return few, err
	}
	_, err = conn.Exec(ctx, "SELECT pg_stat_reset_single_table_counters($1::text::regclass)", table)
	return true, err
}
