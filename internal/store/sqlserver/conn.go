package sqlserver

import (
	"cmp"
	"context"
	"database/sql/driver"

	mssql "github.com/microsoft/go-mssqldb"
)

// onOwnConn lends a connection that is closed afterwards, which also rolls back what was not committed: one that is
// given up amid the rows of a bulk load is of no use to a pool.
func (s *Store) onOwnConn(ctx context.Context, f func(*mssql.Conn) error) error {
	conn, network, err := s.dial(ctx, s.config)
	if err != nil {
		return err
	}
	defer conn.Close()
	// go-mssqldb looks at the context while it reads, not while it writes, and a server that waits for a lock takes no
	// rows.
	stop := context.AfterFunc(ctx, network.cut)
	defer stop()
	if err := f(conn); err != nil {
		return cmp.Or(ctx.Err(), err) // the end of the context is why the connection failed
	}
	return nil
}

// exec runs a statement on a connection that is not database/sql's.
func exec(ctx context.Context, conn *mssql.Conn, statement string, args ...driver.Value) error {
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
