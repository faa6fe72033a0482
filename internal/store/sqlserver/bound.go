package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net"
	"sync/atomic"

	mssql "github.com/microsoft/go-mssqldb"
)

// maxAnswer is what the server may send in bytes before a row of it, or the end of its answer, is there: no statement
// of ds2 asks for a row of a hundredth of it. go-mssqldb itself takes values of 2 GB and any number of messages, and
// keeps them. It also reserves the memory of a value before the value is there, which cannot be kept from here.
const maxAnswer = 16 << 20

// longAnswer gives up a connection on which the server sends more than maxAnswer.
type longAnswer struct{}

func (longAnswer) Error() string {
	return fmt.Sprintf("the server sent more than %d MiB without a row or an end of its answer", maxAnswer>>20)
}

// Timeout and Temporary make it a net.Error, of which go-mssqldb knows that its connection is lost.
func (longAnswer) Timeout() bool   { return false }
func (longAnswer) Temporary() bool { return false }

var _ net.Error = longAnswer{}

// unread counts what has been read of an answer since the request, or since its last row.
type unread struct{ bytes atomic.Int64 }

func (u *unread) begin() { u.bytes.Store(0) }

func (u *unread) over() bool { return u.bytes.Load() > maxAnswer }

func (u *unread) add(n int) error {
	if u.bytes.Add(int64(n)); u.over() {
		return longAnswer{}
	}
	return nil
}

// cause is longAnswer for an error of a connection that was given up for it: go-mssqldb makes a text of some.
func (u *unread) cause(err error) error {
	if err != nil && u.over() {
		return longAnswer{}
	}
	return err
}

// poolConn is a connection of a pool, whose statements begin to count again with each row that is taken.
type poolConn struct {
	*mssql.Conn
	unread *unread
}

// IsValid tells the pool whether the connection can be used again.
func (c poolConn) IsValid() bool { return c.Conn.IsValid() && !c.unread.over() }

func (c poolConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	prepared, err := c.Conn.PrepareContext(ctx, query)
	if s, ok := prepared.(*mssql.Stmt); ok {
		return poolStmt{s, c.unread}, err
	}
	return prepared, err
}

type poolStmt struct {
	*mssql.Stmt
	unread *unread
}

func (s poolStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.Stmt.QueryContext(ctx, args)
	if r, ok := rows.(*mssql.Rows); ok {
		return poolRows{r, s.unread}, err
	}
	return rows, s.unread.cause(err)
}

func (s poolStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	result, err := s.Stmt.ExecContext(ctx, args)
	return result, s.unread.cause(err)
}

type poolRows struct {
	*mssql.Rows
	unread *unread
}

func (r poolRows) Next(row []driver.Value) error {
	err := r.Rows.Next(row)
	if err == nil {
		r.unread.begin()
	}
	return r.unread.cause(err)
}
