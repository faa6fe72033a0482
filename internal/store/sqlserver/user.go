package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
)

// Statement is a call that a connection prepares.
type Statement struct {
	Name string // in errors

	// SQL is the name of a procedure, such as dbo.DS2_LOGIN, which makes it a remote procedure call; or else a text,
	// which is the same each time, so that the server keeps one plan for it.
	SQL string
	// Declared is the parameters of a text, @p1, @p2 and so on, as sp_executesql takes them: "@p1 int,@p2 int". Empty:
	// SQL is the name of a procedure.
	Declared string
}

// Conn is a connection of one user, for a workload's calls: Call or CallText, a parameter each, Each. Nothing is
// allocated where wire makes them.
type Conn struct {
	store      *Store
	statements []Statement
	current    string // name of the statement that is called
	caller
}

// caller sends calls: begin or beginText, the parameters, call. There are two: go-mssqldb, and wire where that was
// asked for.
type caller interface {
	begin(statement int)
	beginText(sql, declared []byte)

	// These add a parameter.
	Int16(v int16)
	Int32(v int32)
	Int64(v int64)
	Text(v []byte)      // a varchar
	Binary(v []byte)    // a varbinary of at most 8,000 bytes
	Hundredths(v int64) // an amount of money

	// call sends the call and hands every row of the answer to row, down to the last.
	call(ctx context.Context, columns int, row func([]Value) error) error
	// whole says that the connection can still be used.
	whole() bool
	close() error
}

// Value is a column of an answer. Amounts are in 1/10,000.
type Value = store.Value

// ConnectUser opens a connection for one user, with everything prepared that the statements need.
func (s *Store) ConnectUser(ctx context.Context, statements ...Statement) (*Conn, error) {
	op := "connect to " + s.Label()
	conn, network, err := s.dial(ctx, s.config)
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	var calls caller = &driverCaller{conn: conn, unread: &network.unread, statements: statements}
	if s.wire {
		plain, err := network.handOver()
		if err != nil {
			conn.Close()
			return nil, store.Refuse(op,
				"add encrypt=disable to the target where the server allows it, or have go-mssqldb make the calls",
				"%w", err)
		}
		calls = newWire(plain, network.packet(), statements)
	}
	return &Conn{store: s, statements: statements, caller: calls}, nil
}

// Call begins the call of one of the statements that the connection was made with; its parameters follow.
func (c *Conn) Call(statement int) {
	c.current = c.statements[statement].Name
	c.begin(statement)
}

// CallText begins the call of a text; its parameters follow, which are declared as those of a Statement are. The name
// is for errors.
func (c *Conn) CallText(name string, sql, declared []byte) {
	c.current = name
	c.beginText(sql, declared)
}

// AnyColumns is for a call whose answer has several tables, with columns that row looks at itself.
const AnyColumns = -1

// Each sends the call and hands every row of the answer, which has so many columns, to row, down to the last. What row
// is given is valid until it returns. The error of a call that writes is in doubt where it was
// sent, and the server did not tell how it ended.
func (c *Conn) Each(ctx context.Context, writes bool, columns int, row func(values []Value) error) error {
	err := ctx.Err()
	switch {
	case err != nil:
		writes = false
	case !c.whole():
		err, writes = driver.ErrBadConn, false
	default:
		err = c.call(ctx, columns, row)
	}
	if err == nil {
		return nil
	}
	// A server that does not confirm the cancelling in time loses the connection.
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	wrapped := c.store.Wrap(c.current, err)
	if e, ok := wrapped.(*store.Error); ok && writes && e.Class == store.Connection {
		_, unsent := errors.AsType[mssql.RetryableError](err)
		e.InDoubt = !unsent
	}
	return wrapped
}

// Close ends the connection.
func (c *Conn) Close(context.Context) error { return c.close() }
