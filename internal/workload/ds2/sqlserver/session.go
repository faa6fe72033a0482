// Package sqlserver is the calls of DVD Store 2 on SQL Server.
package sqlserver

import (
	"context"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/calls"
	"ds2/schema"
)

// statements are what the operations call, by their places.
var statements = schema.Calls(
	sqlserver.Engine, schema.Params{}, workload.Names(calls.Operations)...)

type conn struct{ *sqlserver.Conn }

// Connect opens a user's connection with the statements that it will call.
func Connect(ctx context.Context, target store.Database) (calls.Session, error) {
	c, err := target.(*sqlserver.Store).ConnectUser(ctx, statements...)
	if err != nil {
		return nil, err
	}
	return calls.NewSession(conn{c}), nil
}

// Products adds the items' products; a short list is filled up with its first.
func (c conn) Products(items []calls.Item) {
	for i := range calls.MaxItems {
		if i >= len(items) {
			i = 0
		}
		c.Int32(items[i].Product)
	}
}

// Lines adds products and quantities by turns.
func (c conn) Lines(items []calls.Item) {
	for i := range items {
		c.Int32(items[i].Product)
		c.Int16(items[i].Quantity)
	}
}
