// Package sqlserver is the calls of DVD Store 2 on SQL Server.
package sqlserver

import (
	"context"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/workload/ds2/calls"
)

// statements are what the operations send: the name of the DS2 procedure, but for the prices, which
// have none.
var statements = []sqlserver.Statement{
	calls.OpLogin:            {Name: "login", SQL: "DS2_LOGIN"},
	calls.OpNewCustomer:      {Name: "new_customer", SQL: "DS2_NEW_CUSTOMER"},
	calls.OpBrowseByCategory: {Name: "browse_by_category", SQL: "DS2_BROWSE_BY_CATEGORY"},
	calls.OpBrowseByActor:    {Name: "browse_by_actor", SQL: "DS2_BROWSE_BY_ACTOR"},
	calls.OpBrowseByTitle:    {Name: "browse_by_title", SQL: "DS2_BROWSE_BY_TITLE"},
	calls.OpPrices:           {Name: "prices", SQL: "SELECT PROD_ID, PRICE FROM PRODUCTS WHERE PROD_ID IN (@p1, @p2, @p3, @p4, @p5, @p6, @p7, @p8, @p9, @p10)"},
	calls.OpPurchase:         {Name: "purchase", SQL: "DS2_PURCHASE"},
}

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
