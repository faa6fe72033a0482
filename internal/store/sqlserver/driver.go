package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
)

// driverCaller calls by go-mssqldb, where the whole connection is encrypted.
type driverCaller struct {
	conn  *mssql.Conn
	stmts [store.NumOps]*mssql.Stmt
	op    store.Op
	args  []driver.NamedValue
	row   [productColumns]driver.Value
	cells [productColumns]value
}

func newDriverCaller(ctx context.Context, conn *mssql.Conn) (*driverCaller, error) {
	c := &driverCaller{conn: conn}
	for i, call := range calls {
		stmt, err := conn.PrepareContext(ctx, call) // a call by name needs no handle on the server
		if err != nil {
			return nil, err
		}
		c.stmts[i] = stmt.(*mssql.Stmt)
	}
	return c, nil
}

func (c *driverCaller) begin(op store.Op) { c.op, c.args = op, c.args[:0] }

func (c *driverCaller) param(value driver.Value) {
	c.args = append(c.args, driver.NamedValue{Ordinal: len(c.args) + 1, Value: value})
}

func (c *driverCaller) int16(v int16) { c.param(v) }
func (c *driverCaller) int32(v int32) { c.param(v) }
func (c *driverCaller) text(v []byte) { c.param(mssql.VarChar(v)) }

// cents adds an amount as text, which the server converts without loss.
func (c *driverCaller) cents(v store.Cents) { c.param(mssql.VarChar(v.String())) }

func (c *driverCaller) whole() bool  { return c.conn.IsValid() }
func (c *driverCaller) close() error { return c.conn.Close() }

func (c *driverCaller) call(ctx context.Context, columns int, row func([]value) error) error {
	rows, err := c.stmts[c.op].QueryContext(ctx, c.args)
	if err != nil {
		return err
	}
	defer rows.Close()
	if n := len(rows.Columns()); n != columns {
		err = fmt.Errorf("answer of %d columns, not the procedure's %d", n, columns)
	}
	// Read on to the end of the answer whatever happens: closing rows before would ask the server to cancel the call.
	for {
		next := rows.Next(c.row[:columns])
		if next == io.EOF {
			return err
		}
		if next != nil {
			if err = next; !c.conn.IsValid() || ctx.Err() != nil {
				return err
			}
			continue
		}
		for i := range columns {
			if c.cells[i], next = cell(c.row[i]); next != nil && err == nil {
				err = next
			}
		}
		if err == nil {
			err = row(c.cells[:columns])
		}
	}
}

// cell is what the operations need of a value of go-mssqldb's, which gives an amount as a decimal number and any other text as
// string.
func cell(v driver.Value) (value, error) {
	switch v := v.(type) {
	case nil:
		return value{null: true}, nil
	case int64:
		return value{n: v}, nil
	case []byte:
		amount, err := parseMoney(v)
		return value{n: amount}, err
	}
	return value{}, nil
}

// parseMoney reads an amount with four places as a number of ten-thousandths.
func parseMoney(b []byte) (int64, error) {
	var v int64
	point, digits, negative := false, 0, false
	for i, c := range b {
		switch {
		case c == '-' && i == 0:
			negative = true
		case c == '.' && !point:
			point = true
		case c >= '0' && c <= '9':
			if point {
				digits++
			}
			v = v*10 + int64(c-'0')
		default:
			return 0, fmt.Errorf("amount %q is not a number", b)
		}
	}
	if digits != 4 {
		return 0, fmt.Errorf("amount %q has not four places", b)
	}
	if negative {
		v = -v
	}
	return v, nil
}
