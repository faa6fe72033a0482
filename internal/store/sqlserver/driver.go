package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"
)

// driverCaller calls by go-mssqldb.
type driverCaller struct {
	conn       *mssql.Conn
	unread     *unread
	statements []Statement
	text       string // of the call
	args       []driver.NamedValue
	row        []driver.Value
	cells      []Value
}

func (c *driverCaller) begin(statement int) { c.text, c.args = c.statements[statement].SQL, c.args[:0] }

// beginText leaves the declaration to go-mssqldb, which makes it of the parameters.
func (c *driverCaller) beginText(sql, _ []byte) { c.text, c.args = string(sql), c.args[:0] }

func (c *driverCaller) param(value driver.Value) {
	c.args = append(c.args, driver.NamedValue{Ordinal: len(c.args) + 1, Value: value})
}

func (c *driverCaller) Int16(v int16)   { c.param(v) }
func (c *driverCaller) Int32(v int32)   { c.param(v) }
func (c *driverCaller) Int64(v int64)   { c.param(v) }
func (c *driverCaller) Text(v []byte)   { c.param(mssql.VarChar(v)) }
func (c *driverCaller) Binary(v []byte) { c.param(v) }

// Hundredths adds an amount as text, which the server converts without loss.
func (c *driverCaller) Hundredths(v int64) {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	c.param(mssql.VarChar(fmt.Sprintf("%s%d.%02d", sign, v/100, v%100)))
}

func (c *driverCaller) whole() bool  { return c.conn.IsValid() && !c.unread.over() }
func (c *driverCaller) close() error { return c.conn.Close() }

func (c *driverCaller) call(ctx context.Context, columns int, row func([]Value) error) error {
	stmt, err := c.conn.PrepareContext(ctx, c.text) // sends nothing
	if err != nil {
		return err
	}
	answer, err := stmt.(*mssql.Stmt).QueryContext(ctx, c.args)
	if err != nil {
		return c.unread.cause(err)
	}
	defer answer.Close()
	rows := answer.(*mssql.Rows)
	begin := func() {
		n := len(rows.Columns())
		if columns != AnyColumns && n != columns && err == nil {
			err = fmt.Errorf("answer of %d columns, not %d", n, columns)
		}
		c.row, c.cells = slices.Grow(c.row[:0], n)[:n], slices.Grow(c.cells[:0], n)[:n]
	}
	begin()
	// Read on to the end of the answer whatever happens: closing rows before would ask the server to cancel the call.
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
			if err = c.unread.cause(next); !c.whole() || ctx.Err() != nil {
				return err
			}
			continue
		}
		for i := range c.row {
			binary := rows.ColumnTypeDatabaseTypeName(i) == "VARBINARY"
			if c.cells[i], next = cell(c.row[i], binary); next != nil && err == nil {
				err = next
			}
		}
		if len(c.cells) == 0 && err == nil {
			err = errShape
		}
		if err == nil {
			err = row(c.cells)
		}
	}
}

// cell is what the calls need of a value of go-mssqldb's, which gives an amount as a decimal number and any other text
// as string.
func cell(v driver.Value, binary bool) (Value, error) {
	switch v := v.(type) {
	case nil:
		return Value{Null: true}, nil
	case int64:
		return Value{N: v}, nil
	case bool:
		if v {
			return Value{N: 1}, nil
		}
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
