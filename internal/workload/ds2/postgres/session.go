// Package postgres is the calls of DVD Store 2 on PostgreSQL.
package postgres

import (
	"context"
	"encoding/binary"
	"fmt"

	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/workload/ds2/calls"
)

var (
	_ calls.Connect = Connect
	_ calls.Session = (*session)(nil)
)

// statements are those of the operations: each is a call of the DS2 procedure, but for the prices, which have none.
// A procedure that only reads costs what its statement does, whose text the planner puts in its place; PURCHASE by statements took nine round
// trips and 1.7 times as long.
var statements = func() []postgres.Statement {
	s := make([]postgres.Statement, calls.NumOps)
	for op, sql := range map[calls.Op]string{
		calls.OpLogin:            "SELECT * FROM ds2_login($1, $2)",
		calls.OpNewCustomer:      "SELECT ds2_new_customer($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
		calls.OpBrowseByCategory: "SELECT * FROM ds2_browse_by_category($1, $2)",
		calls.OpBrowseByActor:    "SELECT * FROM ds2_browse_by_actor($1, $2)",
		calls.OpBrowseByTitle:    "SELECT * FROM ds2_browse_by_title($1, $2)",
		calls.OpPrices:           "SELECT prod_id, price FROM products WHERE prod_id = ANY ($1::integer[])",
		calls.OpPurchase:         "SELECT ds2_purchase($1, $2, $3, $4, $5, $6, $7)",
	} {
		s[op] = postgres.Statement{Name: op.String(), SQL: sql}
	}
	return s
}()

// session is one user's connection.
type session struct{ *postgres.Conn }

// Connect opens a connection for one user and prepares its statements.
func Connect(ctx context.Context, target store.Database) (calls.Session, error) {
	conn, err := target.(*postgres.Store).ConnectUser(ctx, statements...)
	if err != nil {
		return nil, err
	}
	return &session{conn}, nil
}

// Login calls LOGIN, which answers with one row a title, and with one of nulls where there are no titles.
func (s *session) Login(ctx context.Context, username, password []byte) (calls.Login, error) {
	s.Call(&statements[calls.OpLogin])
	s.Bytes(username)
	s.Bytes(password)
	var login calls.Login
	err := s.Each(ctx, false, func(row [][]byte) bool {
		if len(row) != 4 || len(row[0]) != 4 {
			return false
		}
		login.CustomerID = int64(binary.BigEndian.Uint32(row[0]))
		if row[1] != nil {
			login.Titles++
		}
		return true
	})
	if err != nil {
		return calls.Login{}, err
	}
	return login, nil
}

// NewCustomer calls NEW_CUSTOMER.
func (s *session) NewCustomer(ctx context.Context, c *calls.Customer) (int64, error) {
	s.Call(&statements[calls.OpNewCustomer])
	s.Bytes(c.FirstName)
	s.Bytes(c.LastName)
	s.Bytes(c.Address1)
	s.Bytes(c.Address2)
	s.Bytes(c.City)
	s.Bytes(c.State)
	s.Bytes(c.Zip)
	s.Bytes(c.Country)
	s.Int16(c.Region)
	s.Bytes(c.Email)
	s.Bytes(c.Phone)
	s.Int32(c.CreditCardType)
	s.Bytes(c.CreditCard)
	s.Bytes(c.CreditCardExpiration)
	s.Bytes(c.Username)
	s.Bytes(c.Password)
	s.Int16(c.Age)
	s.Int32(c.Income)
	s.Take(append(s.Arena(), c.Gender))
	return s.id(ctx)
}

// BrowseByCategory calls BROWSE_BY_CATEGORY.
func (s *session) BrowseByCategory(ctx context.Context, batch, category int) (int, error) {
	s.Call(&statements[calls.OpBrowseByCategory])
	s.Int32(int32(batch))
	s.Int16(int16(category))
	return s.count(ctx)
}

// BrowseByActor calls BROWSE_BY_ACTOR.
func (s *session) BrowseByActor(ctx context.Context, batch int, actor []byte) (int, error) {
	return s.browse(ctx, calls.OpBrowseByActor, batch, actor)
}

// BrowseByTitle calls BROWSE_BY_TITLE.
func (s *session) BrowseByTitle(ctx context.Context, batch int, title []byte) (int, error) {
	return s.browse(ctx, calls.OpBrowseByTitle, batch, title)
}

func (s *session) browse(ctx context.Context, op calls.Op, batch int, words []byte) (int, error) {
	s.Call(&statements[op])
	s.Int32(int32(batch))
	s.Bytes(words)
	return s.count(ctx)
}

// Prices reads the prices of the items' products with one statement.
func (s *session) Prices(ctx context.Context, items []calls.Item) error {
	s.Call(&statements[calls.OpPrices])
	s.products(items)
	priced := 0
	err := s.Each(ctx, false, func(row [][]byte) bool {
		if len(row) != 2 || len(row[0]) != 4 {
			return false
		}
		price, ok := postgres.ParseNumeric(row[1])
		product := int32(binary.BigEndian.Uint32(row[0]))
		for i := range items {
			if items[i].Product == product {
				items[i].Price = calls.Cents(price)
				priced++
			}
		}
		return ok
	})
	if err == nil && priced != len(items) {
		err = s.Fail(calls.OpPrices.String(), false, fmt.Errorf("%d of %d items have a product that does not exist", len(items)-priced, len(items)))
	}
	return err
}

// Purchase calls PURCHASE.
func (s *session) Purchase(ctx context.Context, p *calls.Purchase) (int64, error) {
	s.Call(&statements[calls.OpPurchase])
	s.Int32(int32(p.CustomerID))
	s.Int32(int32(len(p.Items)))
	s.Hundredths(int64(p.Net))
	s.Hundredths(int64(p.Tax))
	s.Hundredths(int64(p.Total))
	s.products(p.Items)
	s.quantities(p.Items)
	return s.id(ctx)
}

// The types of array elements in PostgreSQL's catalogue.
const (
	oidInt2 = 21
	oidInt4 = 23
)

// products adds the items' products as an array of integers.
func (s *session) products(items []calls.Item) {
	b := appendArrayHeader(s.Arena(), oidInt4, len(items))
	for i := range items {
		b = binary.BigEndian.AppendUint32(b, 4)
		b = binary.BigEndian.AppendUint32(b, uint32(items[i].Product))
	}
	s.Take(b)
}

// quantities adds the items' quantities as an array of small integers.
func (s *session) quantities(items []calls.Item) {
	b := appendArrayHeader(s.Arena(), oidInt2, len(items))
	for i := range items {
		b = binary.BigEndian.AppendUint32(b, 2)
		b = binary.BigEndian.AppendUint16(b, uint16(items[i].Quantity))
	}
	s.Take(b)
}

// appendArrayHeader begins a one-dimensional array without nulls, counted from 1.
func appendArrayHeader(b []byte, element uint32, n int) []byte {
	for _, v := range [...]uint32{1, 0, element, uint32(n), 1} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// id sends a call of a procedure that writes and reads the id it returns.
func (s *session) id(ctx context.Context) (int64, error) {
	var id int64
	err := s.Each(ctx, true, func(row [][]byte) bool {
		if len(row) != 1 || len(row[0]) != 4 {
			return false
		}
		id = int64(binary.BigEndian.Uint32(row[0]))
		return true
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

// count sends a call of a procedure that reads products and counts them.
func (s *session) count(ctx context.Context) (int, error) {
	rows := 0
	err := s.Each(ctx, false, func([][]byte) bool {
		rows++
		return true
	})
	if err != nil {
		return 0, err
	}
	return rows, nil
}
