package sqlserver

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
	"ds2/schema"
)

// Load copies rows as a step of a load.
func (s *Store) Load(ctx context.Context, c store.Copy) (copied int64, err error) {
	err = s.runStep(ctx, schema.Statement{Name: c.Step}, func(conn *mssql.Conn) (int64, error) {
		copied, err = s.bulkLoad(ctx, conn, c)
		return copied, err
	})
	return copied, s.Wrap("copy "+c.Step, err)
}

// maxStepRetries is how often a step that was chosen as a deadlock's victim, and so rolled back, is
// run again.
const maxStepRetries = 5

// ExecStep runs a statement as a step of a load.
func (s *Store) ExecStep(ctx context.Context, statement schema.Statement) error {
	if statement.Progress == schema.FullTextProgress {
		s.filling.Store(&statement)
		defer s.filling.Store(nil)
	}
	for try := 0; ; try++ {
		err := s.runStep(ctx, statement, func(conn *mssql.Conn) (int64, error) {
			return statement.Rows, execOn(ctx, conn, statement.SQL)
		})
		err = s.Wrap(statement.Name, err)
		// Builds that go on concurrently may wait for each other's locks on the server's own
		// tables.
		if store.Classify(err) != store.Deadlock || try == maxStepRetries {
			return err
		}
	}
}

// runStep runs a step in one transaction with the note that it was run, and how many rows it
// copied. What SQL Server refuses in a transaction is noted afterwards.
func (s *Store) runStep(
	ctx context.Context,
	of schema.Statement,
	run func(*mssql.Conn) (copied int64, err error),
) error {
	return s.onOwnConn(ctx, func(conn *mssql.Conn) error {
		runAndNote := func() error {
			copied, err := run(conn)
			if err != nil {
				return err
			}
			note := query("database/note-step")
			return execOn(ctx, conn, note, mssql.VarChar(of.Name), copied)
		}
		if of.NoTransaction {
			return runAndNote()
		}
		return inTransaction(ctx, conn, runAndNote)
	})
}

// inTransaction runs f in a transaction of a connection that rolls back when it is closed.
func inTransaction(ctx context.Context, conn *mssql.Conn, f func() error) error {
	tx, err := conn.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return tx.Commit()
}

// onOwnConn lends a connection that is closed afterwards, which also rolls back what was not
// committed: one that is given up amid the rows of a bulk load is of no use to a pool.
func (s *Store) onOwnConn(ctx context.Context, f func(*mssql.Conn) error) error {
	conn, network, err := s.dialServer(ctx, s.config)
	if err != nil {
		return err
	}
	defer conn.Close()
	// go-mssqldb looks at the context while it reads, not while it writes, and a server that waits
	// for a lock takes no rows.
	stop := context.AfterFunc(ctx, network.cutConns)
	defer stop()
	if err := f(conn); err != nil {
		return cmp.Or(ctx.Err(), err) // the end of the context is why the connection failed
	}
	return nil
}

// execOn runs a statement on a connection that is not database/sql's.
func execOn(ctx context.Context, conn *mssql.Conn, statement string, args ...driver.Value) error {
	stmt, err := conn.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	_, err = stmt.(*mssql.Stmt).ExecContext(ctx, named)
	return err
}

// queryOn is exec of a statement that gives rows.
func queryOn(
	ctx context.Context,
	conn *mssql.Conn,
	statement string,
	args []driver.NamedValue,
) (*mssql.Rows, error) {
	stmt, err := conn.PrepareContext(ctx, statement) // sends nothing
	if err != nil {
		return nil, err
	}
	rows, err := stmt.(*mssql.Stmt).QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	return rows.(*mssql.Rows), nil
}

// bulkLoad brings rows into a table, by the protocol's bulk load. Keys keep the values that the
// rows bring. The table is locked as a whole, which is what lets SQL Server log pages and not rows.
func (s *Store) bulkLoad(ctx context.Context, conn *mssql.Conn, c store.Copy) (int64, error) {
	server, err := s.askServer(ctx)
	if err != nil {
		return 0, err
	}
	names, columns, err := columnsOf(ctx, conn, c.Table)
	if err != nil {
		return 0, err
	}
	bulk := conn.CreateBulkContext(ctx, c.Table, names)
	bulk.Options.Tablock = true
	if key, ok := schema.ClusteredKey[strings.ToLower(c.Table)]; ok && !server.babelfish {
		bulk.Options.Order = []string{key}
	}
	sent, err := eachRow(c.Parts, columns, c.Told, bulk.AddRow)
	if err != nil {
		return 0, err
	}
	copied, err := bulk.Done()
	if err == nil && copied != sent {
		err = fmt.Errorf("the server took %d of %d rows", copied, sent)
	}
	return copied, err
}

// columnsOf asks the server for a table's columns, which stand in the order of the rows.
func columnsOf(
	ctx context.Context,
	conn *mssql.Conn,
	table string,
) (names []string, columns []column, err error) {
	rows, err := queryOn(ctx, conn, "SELECT * FROM "+quoteName(table)+" WHERE 1 = 0", nil)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	names = rows.Columns()
	for i, name := range names {
		columns = append(columns, column{name, rows.ColumnTypeDatabaseTypeName(i)})
	}
	if err := rows.Next(make([]driver.Value, len(columns))); err != io.EOF {
		return nil, nil, fmt.Errorf("read the columns: %w", err)
	}
	return names, columns, nil
}

// Progress gives how much of the full-text index is filled while a statement waits for that, by the
// statement's name. Of other indexes SQL Server does not tell.
func (s *Store) Progress(ctx context.Context) (map[string]float64, error) {
	statement := s.filling.Load()
	if statement == nil {
		return nil, nil
	}
	var share float64
	err := s.db.QueryRowContext(ctx, query("database/full-text-progress"), statement.Table).
		Scan(&share)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	progress := map[string]float64{statement.Name: min(share, 1)}
	return progress, s.Wrap("ask how far the full-text index is", err)
}
