package sqlserver

import (
	"context"
	"database/sql/driver"
	"io"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
	"ds2/schema"
)

// LoadRows streams rows of CSV into a table as a step of a load.
func (s *Store) LoadRows(ctx context.Context, step, table string, csv io.Reader) (int64, error) {
	return s.loadRows(ctx, step, table, csv, fromCSV)
}

// LoadBinary is LoadRows with rows in the native format of Microsoft's bcp, of a table of whole numbers and binary
// columns without NULL.
func (s *Store) LoadBinary(ctx context.Context, step, table string, native io.Reader) (int64, error) {
	return s.loadRows(ctx, step, table, native, fromNative)
}

func (s *Store) loadRows(ctx context.Context, step, table string, in io.Reader, as format) (copied int64, err error) {
	err = s.onOwnConn(ctx, func(conn *mssql.Conn) error {
		return transact(ctx, conn, func() error {
			if copied, err = s.bulk(ctx, conn, table, in, as); err != nil {
				return err
			}
			return note(ctx, conn, step, copied)
		})
	})
	return copied, s.Wrap("copy "+step, err)
}

// ExecStep runs a statement as a step of a load, in one transaction with the note that it was run. What SQL Server
// refuses in a transaction is noted afterwards.
func (s *Store) ExecStep(ctx context.Context, statement schema.Statement) error {
	if statement.Progress == schema.FullTextProgress {
		s.filling.Store(&statement)
		defer s.filling.Store(nil)
	}
	for try := 0; ; try++ {
		err := s.Wrap(statement.Name, s.execStep(ctx, statement))
		// Builds that go on concurrently may wait for each other's locks on the server's own tables.
		if store.Classify(err) != store.Deadlock || try == maxStepRetries {
			return err
		}
	}
}

// maxStepRetries is how often a step that was chosen as a deadlock's victim, and so rolled back, is run again.
const maxStepRetries = 5

func (s *Store) execStep(ctx context.Context, statement schema.Statement) error {
	return s.onOwnConn(ctx, func(conn *mssql.Conn) error {
		run := func() error {
			if err := exec(ctx, conn, statement.SQL); err != nil {
				return err
			}
			return note(ctx, conn, statement.Name, statement.Rows)
		}
		if statement.NoTransaction {
			return run()
		}
		return transact(ctx, conn, run)
	})
}

// note notes a step as done, with the rows that it copied.
func note(ctx context.Context, conn *mssql.Conn, step string, copied int64) error {
	return exec(ctx, conn, "INSERT INTO ds2_steps (name, copied) VALUES (@p1, @p2)", mssql.VarChar(step), copied)
}

// transact runs f in a transaction of a connection that rolls back when it is closed.
func transact(ctx context.Context, conn *mssql.Conn, f func() error) error {
	tx, err := conn.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return tx.Commit()
}
