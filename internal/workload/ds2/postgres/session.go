// Package postgres is the calls of DVD Store 2 on PostgreSQL.
package postgres

import (
	"context"
	"encoding/binary"

	"github.com/jackc/pgx/v5/pgtype"

	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/calls"
	"ds2/schema"
)

// statements are what the operations call, by their places.
var statements = schema.Calls(
	postgres.Engine, schema.Params{}, workload.Names(calls.Operations)...)

type conn struct {
	*postgres.Conn
	op  calls.Op // called
	row []store.Value
}

// Connect opens a connection for one user and prepares its statements.
func Connect(ctx context.Context, target store.Database) (calls.Session, error) {
	c, err := target.(*postgres.Store).ConnectUser(ctx, statements...)
	if err != nil {
		return nil, err
	}
	return calls.NewSession(&conn{Conn: c}), nil
}

// Call begins the call of an operation, and notes it for the rows of its answer.
func (c *conn) Call(op int) {
	c.Conn.Call(&statements[op])
	c.op = calls.Op(op)
}

func (c *conn) Text(v []byte) { c.Bytes(v) }

// Each reads the rows of the answer. The first column of each is an integer, the second one of the
// prices an amount; of others counts only whether they are NULL.
func (c *conn) Each(
	ctx context.Context,
	writes bool,
	columns int,
	take func([]store.Value) error,
) error {
	return c.Conn.Each(ctx, writes, func(row [][]byte) bool {
		c.row = c.row[:0]
		for i, b := range row {
			v := store.Value{Null: b == nil}
			ok := len(row) == columns
			switch {
			case b == nil || !ok:
			case i == 0:
				if ok = len(b) == 4; ok {
					v.N = int64(int32(binary.BigEndian.Uint32(b)))
				}
			case c.op == calls.OpPrices:
				v.N, ok = postgres.ParseNumeric(b)
				v.N *= 100
			}
			if !ok {
				return false
			}
			c.row = append(c.row, v)
		}
		return take(c.row) == nil
	})
}

// Products adds the items' products as an array of integers.
func (c *conn) Products(items []calls.Item) {
	b := appendArrayHeader(c.Arena(), pgtype.Int4OID, len(items))
	for i := range items {
		b = binary.BigEndian.AppendUint32(b, 4)
		b = binary.BigEndian.AppendUint32(b, uint32(items[i].Product))
	}
	c.Take(b)
}

// Lines adds the items' products, and their quantities as an array of small integers.
func (c *conn) Lines(items []calls.Item) {
	c.Products(items)
	b := appendArrayHeader(c.Arena(), pgtype.Int2OID, len(items))
	for i := range items {
		b = binary.BigEndian.AppendUint32(b, 2)
		b = binary.BigEndian.AppendUint16(b, uint16(items[i].Quantity))
	}
	c.Take(b)
}

// appendArrayHeader begins a one-dimensional array without nulls, counted from 1.
func appendArrayHeader(b []byte, element uint32, n int) []byte {
	for _, v := range [...]uint32{1, 0, element, uint32(n), 1} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}
