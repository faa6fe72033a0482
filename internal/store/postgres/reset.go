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

// unvacuumed names the note in ds2_info of the tables that a reset has changed and not vacuumed yet.
const unvacuumed = "reset_unvacuumed"

// Reset returns the database to its state after the load: load.Resetter.
func (s *Store) Reset(
	ctx context.Context, statements []schema.Statement, parts []datagen.Part, begin func(string),
) error {
	err := s.onConn(ctx, func(conn *pgx.Conn) error {
		var changed map[string]bool
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
			changed, err = s.restoreRows(ctx, tx, statements, parts, begin)
			return err
		})
		if err != nil {
			return err
		}
		if err := countNow(ctx, conn); err != nil {
			return err
		}
		if err := s.tidy(ctx, statements, changed, begin); err != nil {
			return err
		}
		_, err = conn.Exec(ctx, "DELETE FROM ds2_info WHERE name = $1", unvacuumed)
		return err
	})
	err = s.Wrap("reset "+s.Label(), err)
	if e, ok := errors.AsType[*store.Error](err); ok && e.Code == noReplicaIdentity {
		e.Hint = replicaIdentity
	}
	return err
}

// countNow has the server count what the session did at once, or other sessions would not know how much of a table
// changed, and the next run's audit would take rows that the reset removed for the run's. Versions before 15 cannot,
// and Changed leaves deleted rows out there.
func countNow(ctx context.Context, conn *pgx.Conn) error {
	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return err
	}
	if version < 150000 {
		return nil
	}
	_, err := conn.Exec(ctx, "SELECT pg_stat_force_next_flush()")
	return err
}

// restoreRows runs the statements that go into one transaction. It returns, and notes in the database, the tables that
// they changed, with those of an earlier reset that ended before it had vacuumed them.
func (s *Store) restoreRows(
	ctx context.Context, tx pgx.Tx, statements []schema.Statement, parts []datagen.Part, begin func(string),
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
			c := store.Copy{Table: statement.Table, Parts: parts, Told: func(int64) {}}
			if _, err := copyFrom(ctx, tx.Conn(), c, "FREEZE"); err != nil {
				return nil, err
			}
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO ds2_info (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
		unvacuumed, strings.Join(slices.Sorted(maps.Keys(changed)), " "))
	return changed, err
}

// tidy runs the statements that go into no transaction, those of one table in their order and all tables at once: to
// vacuum a table is to read all of its indexes, one page after the other in one process.
func (s *Store) tidy(
	ctx context.Context, statements []schema.Statement, changed map[string]bool, begin func(string),
) error {
	ofTable := map[string][]schema.Statement{}
	for _, statement := range statements {
		if statement.NoTransaction && (!statement.UnlessUntouched || changed[statement.Table]) {
			ofTable[statement.Table] = append(ofTable[statement.Table], statement)
		}
	}
	var telling sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(poolIdle)
	for _, statements := range ofTable {
		g.Go(func() error {
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
					telling.Lock()
					begin(statement.Name)
					telling.Unlock()
					if _, err := conn.Exec(ctx, statement.SQL); err != nil {
						return s.Wrap(statement.Name, err)
					}
				}
				return nil
			})
		})
	}
	return g.Wait()
}

// keepStatistics says whether a table needs no ANALYZE, as the planner's statistics are those of the load: where few of
// its rows changed since, fewer than half of those of which the server's autovacuum, by its default, would analyze it
// again in mid-run, or else where the server can be made to forget how many. To analyze a table of size W is to read
// 30,000 pages at random, to find what the statistics of the load say.
func keepStatistics(ctx context.Context, conn *pgx.Conn, table string) (kept bool, err error) {
	var few, ofLoad bool
	err = conn.QueryRow(ctx, `SELECT s.n_mod_since_analyze <= 0.05 * c.reltuples,
			coalesce(s.last_autoanalyze, '-infinity') <= coalesce(s.last_analyze, '-infinity')
				AND has_function_privilege('pg_stat_reset_single_table_counters(oid)', 'EXECUTE')
		FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid
		WHERE c.oid = $1::text::regclass`, table).Scan(&few, &ofLoad)
	if err != nil || few || !ofLoad {
		return few, err
	}
	_, err = conn.Exec(ctx, "SELECT pg_stat_reset_single_table_counters($1::text::regclass)", table)
	return true, err
}
