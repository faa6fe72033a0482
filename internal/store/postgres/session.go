package postgres

import (
	"context"
	"encoding/binary"
	"fmt"

	"ds2/internal/store"
)

// calls holds the statement of every operation: a call of the DS2 procedure, but for the prices, which have none.
var calls = func() []Statement {
	s := make([]Statement, store.NumOps)
	for op, sql := range map[store.Op]string{
		store.OpLogin:            "SELECT * FROM login($1, $2)",
		store.OpNewCustomer:      "SELECT new_customer($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
		store.OpBrowseByCategory: "SELECT * FROM browse_by_category($1, $2)",
		store.OpBrowseByActor:    "SELECT * FROM browse_by_actor($1, $2)",
		store.OpBrowseByTitle:    "SELECT * FROM browse_by_title($1, $2)",
		store.OpPrices:           "SELECT prod_id, price FROM products WHERE prod_id = ANY ($1::integer[])",
		store.OpPurchase:         "SELECT purchase($1, $2, $3, $4, $5, $6, $7)",
	} {
		s[op] = Statement{op.String(), sql}
	}
	return s
}()

// planOnce makes the server plan each call once a session. Left to itself it plans a search for words again each time,
// as the words might matter: that took a fifth of all CPU time of an order. Where somebody has set plan_cache_mode, be
// it for the server, the database, the role or in the target's URL, it stays as it is.
const planOnce = `SELECT set_config(name, 'force_generic_plan', false)
FROM pg_settings WHERE name = 'plan_cache_mode' AND source = 'default'`

// session is one user's connection.
type session struct{ *Conn }

// Connect opens a connection for one user and prepares its statements.
func (s *Store) Connect(ctx context.Context) (store.Session, error) {
	conn, err := s.ConnectUser(ctx, calls...)
	if err != nil {
		return nil, err
	}
	return &session{conn}, nil
}

// fail is the error of an operation; see Conn.Fail.
func (s *session) fail(op store.Op, writes bool, err error) error {
	return s.Fail(op.String(), writes, err)
}

// Login calls LOGIN, which answers with one row a title, and with one of nulls where there are no titles.
func (s *session) Login(ctx context.Context, username, password []byte) (store.Login, error) {
	s.begin(&calls[store.OpLogin])
	s.param(username)
	s.param(password)
	var login store.Login
	if err := s.send(ctx); err != nil {
		return login, s.fail(store.OpLogin, false, err)
	}
	for {
		row, err := s.row()
		if err != nil {
			return store.Login{}, s.fail(store.OpLogin, false, err)
		}
		if row == nil {
			return login, nil
		}
		if len(row) != 4 || len(row[0]) != 4 {
			s.broken = true
			return store.Login{}, s.fail(store.OpLogin, false, errShape)
		}
		login.CustomerID = int64(binary.BigEndian.Uint32(row[0]))
		if row[1] != nil {
			login.Titles++
		}
	}
}

// NewCustomer calls NEW_CUSTOMER.
func (s *session) NewCustomer(ctx context.Context, c *store.Customer) (int64, error) {
	s.begin(&calls[store.OpNewCustomer])
	s.param(c.FirstName)
	s.param(c.LastName)
	s.param(c.Address1)
	s.param(c.Address2)
	s.param(c.City)
	s.param(c.State)
	s.param(c.Zip)
	s.param(c.Country)
	s.int16(c.Region)
	s.param(c.Email)
	s.param(c.Phone)
	s.int32(c.CreditCardType)
	s.param(c.CreditCard)
	s.param(c.CreditCardExpiration)
	s.param(c.Username)
	s.param(c.Password)
	s.int16(c.Age)
	s.int32(c.Income)
	s.arena = append(s.arena, c.Gender)
	s.fromArena(len(s.arena) - 1)
	return s.id(ctx, store.OpNewCustomer)
}

// BrowseByCategory calls BROWSE_BY_CATEGORY.
func (s *session) BrowseByCategory(ctx context.Context, batch, category int) (int, error) {
	s.begin(&calls[store.OpBrowseByCategory])
	s.int32(int32(batch))
	s.int16(int16(category))
	return s.count(ctx, store.OpBrowseByCategory)
}

// BrowseByActor calls BROWSE_BY_ACTOR.
func (s *session) BrowseByActor(ctx context.Context, batch int, actor []byte) (int, error) {
	s.begin(&calls[store.OpBrowseByActor])
	s.int32(int32(batch))
	s.param(actor)
	return s.count(ctx, store.OpBrowseByActor)
}

// BrowseByTitle calls BROWSE_BY_TITLE.
func (s *session) BrowseByTitle(ctx context.Context, batch int, title []byte) (int, error) {
	s.begin(&calls[store.OpBrowseByTitle])
	s.int32(int32(batch))
	s.param(title)
	return s.count(ctx, store.OpBrowseByTitle)
}

// Prices reads the prices of the items' products with one statement.
func (s *session) Prices(ctx context.Context, items []store.Item) error {
	s.begin(&calls[store.OpPrices])
	s.products(items)
	if err := s.send(ctx); err != nil {
		return s.fail(store.OpPrices, false, err)
	}
	priced := 0
	for {
		row, err := s.row()
		if err != nil {
			return s.fail(store.OpPrices, false, err)
		}
		if row == nil {
			break
		}
		if len(row) != 2 || len(row[0]) != 4 {
			s.broken = true
			return s.fail(store.OpPrices, false, errShape)
		}
		price, err := parseNumeric(row[1])
		if err != nil {
			s.broken = true
			return s.fail(store.OpPrices, false, err)
		}
		product := int32(binary.BigEndian.Uint32(row[0]))
		for i := range items {
			if items[i].Product == product {
				items[i].Price = price
				priced++
			}
		}
	}
	if priced != len(items) {
		return s.fail(store.OpPrices, false, fmt.Errorf("%d of %d items have a product that does not exist", len(items)-priced, len(items)))
	}
	return nil
}

// Purchase calls PURCHASE.
func (s *session) Purchase(ctx context.Context, p *store.Purchase) (int64, error) {
	s.begin(&calls[store.OpPurchase])
	s.int32(int32(p.CustomerID))
	s.int32(int32(len(p.Items)))
	s.cents(p.Net)
	s.cents(p.Tax)
	s.cents(p.Total)
	s.products(p.Items)
	s.quantities(p.Items)
	return s.id(ctx, store.OpPurchase)
}

// The types of array elements in PostgreSQL's catalogue.
const (
	oidInt2 = 21
	oidInt4 = 23
)

// products adds the items' products as an array of integers.
func (s *session) products(items []store.Item) {
	start := len(s.arena)
	s.arena = appendArrayHeader(s.arena, oidInt4, len(items))
	for i := range items {
		s.arena = binary.BigEndian.AppendUint32(s.arena, 4)
		s.arena = binary.BigEndian.AppendUint32(s.arena, uint32(items[i].Product))
	}
	s.fromArena(start)
}

// quantities adds the items' quantities as an array of small integers.
func (s *session) quantities(items []store.Item) {
	start := len(s.arena)
	s.arena = appendArrayHeader(s.arena, oidInt2, len(items))
	for i := range items {
		s.arena = binary.BigEndian.AppendUint32(s.arena, 2)
		s.arena = binary.BigEndian.AppendUint16(s.arena, uint16(items[i].Quantity))
	}
	s.fromArena(start)
}

// appendArrayHeader begins a one-dimensional array without nulls, counted from 1.
func appendArrayHeader(b []byte, element uint32, n int) []byte {
	for _, v := range [...]uint32{1, 0, element, uint32(n), 1} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// id sends a call of a procedure that writes and reads the id it returns.
func (s *session) id(ctx context.Context, op store.Op) (int64, error) {
	if err := s.send(ctx); err != nil {
		return 0, s.fail(op, true, err)
	}
	var id int64
	for {
		row, err := s.row()
		if err != nil {
			return 0, s.fail(op, true, err)
		}
		if row == nil {
			return id, nil
		}
		if len(row) != 1 || len(row[0]) != 4 {
			s.broken = true
			return 0, s.fail(op, true, errShape)
		}
		id = int64(binary.BigEndian.Uint32(row[0]))
	}
}

// count sends a call of a procedure that reads products and counts them.
func (s *session) count(ctx context.Context, op store.Op) (int, error) {
	if err := s.send(ctx); err != nil {
		return 0, s.fail(op, false, err)
	}
	for rows := 0; ; rows++ {
		row, err := s.row()
		if err != nil {
			return 0, s.fail(op, false, err)
		}
		if row == nil {
			return rows, nil
		}
	}
}
