package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
	"ds2/schema"
)

// Conn is a connection of one user, for a workload's calls: Call, a parameter each, Each.
type Conn struct {
	store      *Store
	conn       *mssql.Conn
	statements []schema.Statement
	current    schema.Statement // that is called
	args       []driver.NamedValue
	row        []driver.Value
	cells      []Value
}

// Value is a column of an answer. Amounts are in 1/10,000.
type Value = store.Value

// ConnectUser opens a connection for one user, who calls the statements. The SQL of one is the name
// of a procedure, such as DS2_LOGIN, or a text with parameters @p1, @p2 and so on.
func (s *Store) ConnectUser(ctx context.Context, statements ...schema.Statement) (*Conn, error) {
	conn, _, err := s.dialServer(ctx, s.config)
	if err != nil {
		return nil, s.Wrap("connect to "+s.Label(), err)
	}
	return &Conn{store: s, conn: conn, statements: statements}, nil
}

// Call begins the call of one of the statements that the connection was made with; its parameters
// follow.
func (c *Conn) Call(statement int) { c.current, c.args = c.statements[statement], c.args[:0] }

// AddParam adds a parameter: a bigint of an int64, a varbinary of at most 8,000 bytes of []byte.
func (c *Conn) AddParam(value driver.Value) {
	c.args = append(c.args, driver.NamedValue{Ordinal: len(c.args) + 1, Value: value})
}

// Int16 adds a parameter of type smallint.
func (c *Conn) Int16(v int16) { c.AddParam(v) }

// Int32 adds a parameter of type int.
func (c *Conn) Int32(v int32) { c.AddParam(v) }

// Text adds a varchar: the columns are, and a comparison with nvarchar could not use their indexes.
func (c *Conn) Text(v []byte) { c.AddParam(mssql.VarChar(v)) }

// Hundredths adds an amount of money as text, which the server converts without loss.
func (c *Conn) Hundredths(v int64) {
	sign := ""
	if v < 0 {
		sign = "-"
		v = -v
	}
	c.AddParam(mssql.VarChar(fmt.Sprintf("%s%d.%02d", sign, v/100, v%100)))
}

// Each sends the call and hands every row of the answer, which has n columns, to row, down to the
// last. What row is given is valid until it returns. The error of a call that writes is in doubt
// where it was sent, and the server did not tell how it ended.
func (c *Conn) Each(
	ctx context.Context,
	writes bool,
	columns int,
	row func(values []Value) error,
) error {
	err := ctx.Err()
	switch {
	case err != nil:
		writes = false
	case !c.conn.IsValid():
		err = driver.ErrBadConn
		writes = false
	default:
		err = c.sendCall(ctx, columns, row)
	}
	if err == nil {
		return nil
	}
	// A server that does not confirm the cancelling in time loses the connection.
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	wrapped := c.store.Wrap(c.current.Name, err)
	said, _ := errors.AsType[mssql.Error](err)
	if isFatal(said) {
		c.conn.Close() // or the next call would be sent in vain, and be in doubt
	}
	if e, ok := wrapped.(*store.Error); ok && (e.Class == store.Connection || isFatal(said)) {
		_, unsent := errors.AsType[mssql.RetryableError](err)
		e.InDoubt = writes && !unsent
	}
	return wrapped
}

// Close ends the connection.
func (c *Conn) Close(context.Context) error { return c.conn.Close() }

// sendCall sends the call and reads its answer, of one result set or several. The first error is
// told, of the server, of the shape or of row.
func (c *Conn) sendCall(ctx context.Context, columns int, row func([]Value) error) error {
	rows, err := queryOn(ctx, c.conn, c.current.SQL, c.args)
	if err != nil {
		return err
	}
	defer rows.Close()
	begin := func() {
		n := len(rows.Columns())
		if n != columns && err == nil {
			err = fmt.Errorf("answer of %d columns, not %d", n, columns)
		}
		c.row, c.cells = slices.Grow(c.row[:0], n)[:n], slices.Grow(c.cells[:0], n)[:n]
	}
	begin()
	// Read on to the end of the answer whatever happens: closing rows before would ask the server
	// to cancel the call.
	for {
		next := rows.Next(c.row)
		if next == io.EOF && rows.HasNextResultSet() {
			if next = rows.NextResultSet(); next == nil {
				begin()
				continue
			}
		}
		if next == io.EOF {
			return err
		}
		if next != nil {
			if err = next; !c.conn.IsValid() || ctx.Err() != nil {
				return err
			}
			continue
		}
		for i := range c.row {
			binary := rows.ColumnTypeDatabaseTypeName(i) == "VARBINARY"
			if c.cells[i], next = readCell(c.row[i], binary); next != nil && err == nil {
				err = next
			}
		}
		if err == nil {
			err = row(c.cells)
		}
	}
}

// readCell is what the calls need of a value of go-mssqldb's, which gives an amount as a decimal
// number and any other text as string.
func readCell(v driver.Value, binary bool) (Value, error) {
	switch v := v.(type) {
	case nil:
		return Value{Null: true}, nil
	case int64:
		return Value{N: v}, nil
	case []byte:
		if binary {
			return Value{Null: v == nil, Bytes: v}, nil
		}
		amount, err := parseMoney(v)
		return Value{N: amount}, err
	}
	return Value{}, nil
}

// parseMoney reads an amount with four places as a number of ten-thousandths.
func parseMoney(b []byte) (int64, error) {
	whole, places, _ := strings.Cut(string(b), ".")
	v, err := strconv.ParseInt(whole+places, 10, 64)
	if err != nil || len(places) != 4 || whole == "" {
		return 0, fmt.Errorf("amount %q is not a number with four places", b)
	}
	return v, nil
}
