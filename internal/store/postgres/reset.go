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
		_, err = conn.Exec(ctx, `DO $$ BEGIN IF current_setting('server_version_num')::int >= 150000
			THEN PERFORM pg_stat_force_next_flush(); END IF; END $$`)
		return err
	})
	if err == nil {
		err = s.tidyTables(ctx, statements, changed, begin)
	}
	if err == nil {
		_, err = s.db.ExecContext(ctx, "DELETE FROM ds2_info WHERE name = $1", unvacuumed)
	}
	err = s.Wrap("reset "+s.Label(), err)
	if e, ok := errors.AsType[*store.Error](err); ok && e.Code == noReplicaIdentity {
		e.Hint = replicaIdentity
	}
	return err
}

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
	err := tx.QueryRow(ctx, "SELECT value FROM ds2_info WHERE name = $1", unvacuumed).Scan(&noted)
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
	_, err = tx.Exec(ctx, `INSERT INTO ds2_info (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
		unvacuumed, strings.Join(slices.Sorted(maps.Keys(changed)), " "))
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
		return !statement.NoTransaction || statement.UnlessUntouched && !changed[statement.Table]
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

func (s *Store) tidyTable(
	ctx context.Context,
	statements []schema.Statement,
	begin func(string),
) error {
	return s.onConn(ctx, func(conn *pgx.Conn) error {
		for _, statement := range statements {
			if statement.UnlessAnalyzed {
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
			if statement.UnlessAnalyzed {
				if err := noteStatistics(ctx, conn, statement.Table); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// statisticsOf is a sum of the planner's statistics of the table c, which a run does not change
// unless the server, or someone else, analyzes the table.
const statisticsOf = `(SELECT coalesce(md5(string_agg(s::text, ' ' ORDER BY s.attname)), '')
	FROM pg_stats s JOIN pg_namespace n ON n.nspname = s.schemaname
	WHERE n.oid = c.relnamespace AND s.tablename = c.relname)`

// noteStatistics notes in the database which statistics a table has that are right for its rows.
func noteStatistics(ctx context.Context, conn *pgx.Conn, table string) error {
	_, err := conn.Exec(ctx, `INSERT INTO ds2_info (name, value)
		SELECT 'statistics of ' || c.relname, `+statisticsOf+` FROM pg_class c WHERE c.oid = $1::text::regclass
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, table)
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
	err = conn.QueryRow(ctx, `SELECT t.n_mod_since_analyze <= 0.05 * c.reltuples,
			coalesce(t.last_analyze, t.last_autoanalyze) IS NOT NULL,
			EXISTS (SELECT FROM ds2_info i WHERE i.name = 'statistics of ' || c.relname AND i.value = `+statisticsOf+`)
				AND has_function_privilege('pg_stat_reset_single_table_counters(oid)', 'EXECUTE')
		FROM pg_class c JOIN pg_stat_user_tables t ON t.relid = c.oid
		WHERE c.oid = $1::text::regclass`, table).Scan(&few, &right, &noted)
	switch {
	case err == nil && few && right:
		return true, noteStatistics(ctx, conn, table)
	case err != nil || few || !noted:
		return few, err
	}
	_, err = conn.Exec(ctx, "SELECT pg_stat_reset_single_table_counters($1::text::regclass)", table)
	return true, err
}
