package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/stdlib"

	"ds2/internal/store"
	"ds2/schema"
)

// buildMemory is what each of the statements of a load that build or check something may use at least: the server's
// default of 64 MB sorts on the drive what this sorts in memory. Where the server or the target's options allow more,
// that holds.
const buildMemory = "256MB"

// Name is that of the target's database.
func (s *Store) Name() string { return s.config.Database }

// Schema is the first of the search path.
func (s *Store) Schema() string { return "current_schema()" }

// CreateDatabase makes the target's database where it does not exist. PostgreSQL has no statement for one that does.
func (s *Store) CreateDatabase(ctx context.Context, statements []schema.Statement) error {
	err := s.db.PingContext(ctx)
	if sqlState(err) != undefinedDatabase {
		return s.Wrap("connect to "+s.Label(), err)
	}
	conn, err := s.maintenance(ctx, cancelStatement)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement.SQL); err != nil {
			return s.Wrap(statement.Name, err)
		}
	}
	return nil
}

// maintenance connects to another database of the server. The handler is told when the context of a statement ends.
func (s *Store) maintenance(ctx context.Context, handler func(*pgconn.PgConn) ctxwatch.Handler) (*pgx.Conn, error) {
	// Every server has template1, but nobody can copy it while others are connected; most have postgres.
	config, err := s.Config(ctx)
	if err != nil {
		return nil, err
	}
	config.Database, config.BuildContextWatcherHandler = "postgres", handler
	conn, err := pgx.ConnectConfig(ctx, config)
	if sqlState(err) == undefinedDatabase {
		config.Database = "template1"
		conn, err = pgx.ConnectConfig(ctx, config)
	}
	if err == nil {
		err = s.begin(ctx, conn)
	}
	return conn, s.Wrap("connect to database "+config.Database+" of the server", err)
}

// LoadRows streams rows of CSV into a table as a step of a load.
func (s *Store) LoadRows(ctx context.Context, step, table string, csv io.Reader) (rows int64, err error) {
	return s.load(ctx, step, func(conn *pgx.Conn) (int64, error) { return copyFrom(ctx, conn, table, csv) })
}

// LoadBinary is LoadRows with rows in the format of COPY … (FORMAT binary).
func (s *Store) LoadBinary(ctx context.Context, step, table string, rows io.Reader) (copied int64, err error) {
	return s.load(ctx, step, func(conn *pgx.Conn) (int64, error) {
		return copyAs(ctx, conn, table, rows, "FORMAT binary")
	})
}

// LoadTable is LoadRows with all rows of a table. Rows that come into a table in the transaction that emptied it can be
// frozen as they are written; nobody sees the table until it commits. Where the server's wal_level is minimal, they are
// not logged.
func (s *Store) LoadTable(ctx context.Context, step, table string, csv io.Reader) (rows int64, err error) {
	return s.load(ctx, step, func(conn *pgx.Conn) (int64, error) {
		if _, err := conn.Exec(ctx, "TRUNCATE "+quote(strings.ToLower(table))); err != nil {
			return 0, err
		}
		return copyFrom(ctx, conn, table, csv, "FREEZE")
	})
}

// load copies rows as a step of a load, in one transaction with the note of it.
func (s *Store) load(ctx context.Context, step string, copied func(*pgx.Conn) (int64, error)) (rows int64, err error) {
	err = s.onConn(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(pgx.Tx) error {
			if rows, err = copied(conn); err != nil {
				return err
			}
			return note(ctx, conn, step, rows)
		})
	})
	return rows, s.Wrap("copy "+step, err)
}

// ExecStep runs a statement as a step of a load, in one transaction with the note that it was run.
func (s *Store) ExecStep(ctx context.Context, statement schema.Statement) error {
	err := s.onConn(ctx, func(conn *pgx.Conn) error {
		if statement.Progress != "" {
			var pid string // of the server itself: with a pooler between, the connection knows another
			if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()::text").Scan(&pid); err != nil {
				return err
			}
			s.running.Store(pid, statement.Name)
			defer s.running.Delete(pid)
		}
		if statement.NoTransaction {
			if _, err := conn.Exec(ctx, statement.SQL); err != nil {
				return err
			}
			return note(ctx, conn, statement.Name, statement.Rows)
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			const settings = `SELECT set_config('maintenance_work_mem', $1, true)
				WHERE pg_size_bytes($1) > pg_size_bytes(current_setting('maintenance_work_mem'))`
			if _, err := tx.Exec(ctx, settings, buildMemory); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, statement.SQL); err != nil {
				return err
			}
			return note(ctx, conn, statement.Name, statement.Rows)
		})
	})
	return s.Wrap(statement.Name, err)
}

// note notes a step as done, in a transaction if one is under way, with the rows that it copied.
func note(ctx context.Context, conn *pgx.Conn, step string, copied int64) error {
	_, err := conn.Exec(ctx, "INSERT INTO ds2_steps (name, copied) VALUES ($1, $2)", step, copied)
	return err
}

// copyFrom copies the dataset's rows, which have no quotes. Tables without texts go in the server's binary format,
// which costs it a quarter to a half less time than text, as BenchmarkCopy has it. Others go in its text format with
// the delimiter set to a comma, which it reads a quarter faster than CSV, and texts faster than in binary. An empty
// field is NULL; only nullable columns have some.
func copyFrom(ctx context.Context, conn *pgx.Conn, table string, csv io.Reader, options ...string) (int64, error) {
	table = strings.ToLower(table)
	columns, err := binaryColumns(ctx, conn, table)
	if err != nil {
		return 0, err
	}
	var rows io.Reader = &escaped{rows: csv}
	format := "FORMAT text, DELIMITER ',', NULL ''"
	if len(columns) > 0 {
		rows, format = newBinaryRows(csv, columns), "FORMAT binary"
	}
	return copyAs(ctx, conn, table, rows, append(options, format)...)
}

func copyAs(ctx context.Context, conn *pgx.Conn, table string, rows io.Reader, options ...string) (int64, error) {
	copyIn := fmt.Sprintf("COPY %s FROM STDIN (%s)", quote(table), strings.Join(options, ", "))
	tag, err := conn.PgConn().CopyFrom(ctx, rows, copyIn)
	return tag.RowsAffected(), err
}

// escaped is CSV as the server's text format has it, in which a backslash, which a word that a user brought may have,
// is two.
type escaped struct {
	rows io.Reader
	rest []byte // read, and not yet given
	err  error  // after the rest
}

func (e *escaped) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		n, err := 0, e.err
		if err == nil {
			n, err = e.rows.Read(p)
		}
		if bytes.IndexByte(p[:n], '\\') < 0 {
			return n, err
		}
		e.rest, e.err = bytes.ReplaceAll(p[:n], []byte(`\`), []byte(`\\`)), err
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// onConn lends a connection of the pool.
func (s *Store) onConn(ctx context.Context, f func(*pgx.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return cmp.Or(ctx.Err(), err) // a session that is being set up hears of its end from the server
	}
	defer conn.Close()
	return conn.Raw(func(driverConn any) error {
		if err := f(driverConn.(*stdlib.Conn).Conn()); err != nil {
			// The end of the context is why the connection failed, which pgconn says in one way of several: CopyFrom's
			// two goroutines both meet it, and the one that closes the connection lets the other fail of that.
			return cmp.Or(ctx.Err(), err)
		}
		return nil
	})
}

// progressQuery is how far the server is with what it can report: vacuuming a table counts by the pages that it has
// read, analyzing one by those of its sample, and building an index half for reading the table and half for writing the
// index.
const progressQuery = `
	SELECT pid, CASE
		WHEN tuples_total > 0 THEN 0.5 + 0.5 * tuples_done / tuples_total
		WHEN blocks_total > 0 THEN 0.5 * blocks_done / blocks_total
		ELSE 0 END
	FROM pg_stat_progress_create_index WHERE datname = current_database()
	UNION ALL
	SELECT pid, heap_blks_scanned::float8 / nullif(heap_blks_total, 0)
	FROM pg_stat_progress_vacuum WHERE datname = current_database() AND heap_blks_total > 0
	UNION ALL
	SELECT pid, sample_blks_scanned::float8 / sample_blks_total
	FROM pg_stat_progress_analyze WHERE datname = current_database() AND sample_blks_total > 0`

// Progress gives the share that is done, 0 to 1, of the running statements that have a means of progress, by their
// names.
func (s *Store) Progress(ctx context.Context) (map[string]float64, error) {
	all, err := store.Pairs[float64](ctx, s.db, progressQuery)
	shares := map[string]float64{}
	for pid, share := range all {
		if name, ok := s.running.Load(pid); ok {
			shares[name.(string)] = share
		}
	}
	return shares, s.Wrap("ask how far the statements are", err)
}
