package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/stdlib"

	"ds2/internal/store"
	"ds2/schema"
)

// SetBuilds sets what each statement of a load that builds or checks something may use: as many
// bytes as wanted where the server and the target's options allow less, and no more than most,
// which is 0 where unknown; and where serial, each index is built by one process, unless the server
// or the target's options set how many may share that.
func (s *Store) SetBuilds(wanted, most int64, serial bool) {
	s.buildWanted = wanted
	s.buildMost = most
	s.serialBuilds = serial
}

// Name is that of the target's database.
func (s *Store) Name() string { return s.config.Database }

// Schema is the first of the search path.
func (s *Store) Schema() string { return "current_schema()" }

// CreateDatabase makes the target's database where it does not exist. PostgreSQL has no statement
// for one that does.
func (s *Store) CreateDatabase(ctx context.Context, statements []schema.Statement) error {
	err := s.db.PingContext(ctx)
	if sqlState(err) != undefinedDatabase {
		return s.Wrap("connect to "+s.Label(), err)
	}
	conn, err := s.connectMaintenance(ctx, cancelStatement)
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

// connectMaintenance connects to another database of the server. The handler is told when the
// context of a statement ends.
func (s *Store) connectMaintenance(
	ctx context.Context,
	handler func(*pgconn.PgConn) ctxwatch.Handler,
) (*pgx.Conn, error) {
	// Every server has template1, but it cannot be copied while others are connected; most have
	// postgres.
	config, err := s.Config(ctx)
	if err != nil {
		return nil, err
	}
	config.Database = "postgres"
	config.BuildContextWatcherHandler = handler
	conn, err := s.openSession(ctx, config)
	if sqlState(err) == undefinedDatabase {
		config.Database = "template1"
		conn, err = s.openSession(ctx, config)
	}
	return conn, s.Wrap("connect to database "+config.Database+" on the server of "+s.Label(), err)
}

// Load copies rows as a step of a load, in one transaction with the note of it. Rows that come into
// a table in the transaction that emptied it can be frozen as they are written; nobody sees the
// table until it commits. Where the server's wal_level is minimal, they are not logged.
func (s *Store) Load(ctx context.Context, c store.Copy) (rows int64, err error) {
	err = s.onConn(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(pgx.Tx) error {
			if c.Whole {
				if _, err := conn.Exec(
					ctx,
					"TRUNCATE "+quoteName(strings.ToLower(c.Table)),
				); err != nil {
					return err
				}
			}
			if rows, err = copyFrom(ctx, conn, c); err != nil {
				return err
			}
			return noteStep(ctx, conn, c.Step, rows)
		})
	})
	return rows, s.Wrap("copy "+c.Step, err)
}

// ExecStep runs a statement as a step of a load, in one transaction with the note that it was run.
func (s *Store) ExecStep(ctx context.Context, statement schema.Statement) error {
	err := s.onConn(ctx, func(conn *pgx.Conn) error {
		run := func() error {
			if _, err := conn.Exec(ctx, statement.SQL); err != nil {
				return err
			}
			return noteStep(ctx, conn, statement.Name, statement.Rows)
		}
		if statement.Progress != "" {
			// of the server itself: with a pooler between, the connection knows another
			var pid string
			if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()::text").Scan(&pid); err != nil {
				return err
			}
			s.running.Store(pid, statement.Name)
			defer s.running.Delete(pid)
		}
		if statement.NoTransaction {
			return run()
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			// What SetBuilds set. Without hash joins a foreign key is checked by a merge of two
			// indexes, in half the time of a hash table of all keys, most of whose rows are not in
			// a CPU's cache (1 GB: 0.8 s in place of 1.6 and 1.9 s), and without temporary files
			// where the keys are more than the memory holds.
			settings := query("database/build-settings")
			_, err := tx.Exec(ctx, settings, s.buildWanted, s.buildMost, s.serialBuilds)
			if err != nil {
				return err
			}
			return run()
		})
	})
	return s.Wrap(statement.Name, err)
}

// noteStep notes a step as done, in a transaction if one is under way, with the rows that it
// copied.
func noteStep(ctx context.Context, conn *pgx.Conn, step string, copied int64) error {
	_, err := conn.Exec(ctx, query("database/note-step"), step, copied)
	return err
}

// copyFrom copies the rows of parts in the server's binary format, which costs it a quarter to a
// half less time than text where a table has no texts, and as CSV, which costs a tenth less, where
// most columns are texts or the parts are files.
func copyFrom(ctx context.Context, conn *pgx.Conn, c store.Copy) (int64, error) {
	table := strings.ToLower(c.Table)
	columns, err := columnsOf(ctx, conn, table)
	if err != nil {
		return 0, err
	}
	var rows io.Reader
	var options string
	if c.Parts[0].Open == nil || mostlyTexts(columns) {
		files, stop := pipeCSV(c)
		defer stop()
		rows = files
		options = "FORMAT csv"
	} else {
		options = "FORMAT binary"
		rows = io.MultiReader(strings.NewReader(binaryHeader),
			newBinaryRows(c.Parts, columns, c.Told), strings.NewReader(binaryTrailer))
	}
	if c.Whole {
		options += ", FREEZE"
	}
	tag, err := conn.PgConn().
		CopyFrom(ctx, rows, fmt.Sprintf("COPY %s FROM STDIN (%s)", quoteName(table), options))
	return tag.RowsAffected(), err
}

// mostlyTexts tells whether more than half of the columns are texts, which are as long in binary as
// in CSV: there the format wins nothing, and the four bytes of each length cost.
func mostlyTexts(columns []column) bool {
	texts := 0
	for _, c := range columns {
		if c.kind == text {
			texts++
		}
	}
	return 2*texts > len(columns)
}

// pipeCSV has CSV written into one end of a pipe while the other is read, until stop is called.
func pipeCSV(c store.Copy) (r *io.PipeReader, stop func()) {
	r, w := io.Pipe()
	var writing sync.WaitGroup
	writing.Go(func() {
		var err error
		for i := 0; i < len(c.Parts) && err == nil; i++ {
			_, err = c.Parts[i].WriteTo(lines{w, c.Told})
		}
		w.CloseWithError(err)
	})
	return r, func() {
		// Frees the writer where the server stopped early.
		r.CloseWithError(errors.New("load aborted"))
		writing.Wait()
	}
}

// lines counts the lines that pass through it.
type lines struct {
	io.Writer
	told func(int64)
}

// Write tells how many lines p ends, which is how many rows: the dataset has no line ends in its
// texts.
func (l lines) Write(p []byte) (int, error) {
	l.told(int64(bytes.Count(p, []byte{'\n'})))
	return l.Writer.Write(p)
}

// onConn lends a connection of the pool.
func (s *Store) onConn(ctx context.Context, f func(*pgx.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		// A session that is being set up hears of its end from the server.
		return cmp.Or(ctx.Err(), err)
	}
	defer conn.Close()
	return conn.Raw(func(driverConn any) error {
		if err := f(driverConn.(*stdlib.Conn).Conn()); err != nil {
			// The end of the context is why the connection failed, which pgconn says in one way of
			// several: CopyFrom's two goroutines both meet it, and the one that closes the
			// connection lets the other fail of that.
			return cmp.Or(ctx.Err(), err)
		}
		return nil
	})
}

// Progress gives the share that is done, 0 to 1, of the running statements that have a means of
// progress, by their names: vacuuming a table counts by the pages that it has read, analyzing one
// by those of its sample, and building an index half for reading the table and half for writing the
// index.
func (s *Store) Progress(ctx context.Context) (map[string]float64, error) {
	all, err := store.Pairs[float64](ctx, s.db, query("database/build-progress"))
	shares := map[string]float64{}
	for pid, share := range all {
		if name, ok := s.running.Load(pid); ok {
			shares[name.(string)] = share
		}
	}
	return shares, s.Wrap("ask how far the statements are", err)
}
