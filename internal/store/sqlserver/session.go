package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
)

// maxItems is the number of products that PURCHASE and the price query take.
const maxItems = 10

// calls holds what every operation sends: the name of the DS2 procedure, which makes it a remote procedure call, but for
// the prices, which have none: that text is always the same, so the server keeps one plan for it.
var calls = [store.NumOps]string{
	store.OpLogin:            "dbo.LOGIN",
	store.OpNewCustomer:      "dbo.NEW_CUSTOMER",
	store.OpBrowseByCategory: "dbo.BROWSE_BY_CATEGORY",
	store.OpBrowseByActor:    "dbo.BROWSE_BY_ACTOR",
	store.OpBrowseByTitle:    "dbo.BROWSE_BY_TITLE",
	store.OpPrices:           "SELECT PROD_ID, PRICE FROM dbo.PRODUCTS WHERE PROD_ID IN (@p1, @p2, @p3, @p4, @p5, @p6, @p7, @p8, @p9, @p10)",
	store.OpPurchase:         "dbo.PURCHASE",
}

// session is one user's connection.
type session struct {
	store *Store
	conn  *mssql.Conn
	stmts [store.NumOps]*mssql.Stmt
	args  []driver.NamedValue
	row   [7]driver.Value // as many columns as a product has
}

// Connect opens a connection for one user.
func (s *Store) Connect(ctx context.Context) (store.Session, error) {
	op := "connect to " + s.Label()
	conn, _, err := s.dial(ctx, s.config)
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	session := &session{store: s, conn: conn}
	for i, call := range calls {
		stmt, err := session.conn.PrepareContext(ctx, call) // a call by name needs no handle on the server
		if err != nil {
			session.conn.Close()
			return nil, s.Wrap(op, err)
		}
		session.stmts[i] = stmt.(*mssql.Stmt)
	}
	return session, nil
}

// Close ends the connection.
func (s *session) Close(context.Context) error { return s.conn.Close() }

// begin starts a call; the parameters follow, then each.
func (s *session) begin() { s.args = s.args[:0] }

func (s *session) param(value driver.Value) {
	s.args = append(s.args, driver.NamedValue{Ordinal: len(s.args) + 1, Value: value})
}

// text adds a varchar: the columns are, and a comparison with nvarchar could not use their indexes.
func (s *session) text(value []byte) { s.param(mssql.VarChar(value)) }

// cents adds an amount as text, which the server converts without loss.
func (s *session) cents(value store.Cents) { s.param(mssql.VarChar(value.String())) }

// each sends a call and hands every row of the answer to row, down to the last.
func (s *session) each(ctx context.Context, op store.Op, columns int, row func(values []driver.Value) error) error {
	if err := ctx.Err(); err != nil {
		return s.fail(ctx, op, false, err)
	}
	writes := op == store.OpNewCustomer || op == store.OpPurchase
	rows, err := s.stmts[op].QueryContext(ctx, s.args)
	if err != nil {
		return s.fail(ctx, op, writes, err)
	}
	defer rows.Close()
	if n := len(rows.Columns()); n != columns {
		err = fmt.Errorf("answer of %d columns, not the procedure's %d", n, columns)
	}
	// Read on to the end of the answer whatever happens: closing rows before would ask the server to cancel the call.
	values := s.row[:columns]
	for {
		next := rows.Next(values)
		if next == io.EOF {
			break
		}
		if next != nil {
			if err = next; !s.conn.IsValid() || ctx.Err() != nil {
				break
			}
			continue
		}
		if err == nil {
			err = row(values)
		}
	}
	if err != nil {
		return s.fail(ctx, op, writes, err)
	}
	return nil
}

// fail is the error of an operation. It is in doubt where the operation writes, the call was sent, and the server did
// not tell how it ended.
func (s *session) fail(ctx context.Context, op store.Op, writes bool, err error) error {
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err) // a server that does not confirm the cancelling in time loses the connection
	}
	wrapped := s.store.Wrap(op.String(), err)
	if e, ok := wrapped.(*store.Error); ok && writes && e.Class == store.Connection {
		_, unsent := errors.AsType[mssql.RetryableError](err)
		e.InDoubt = !unsent
	}
	return wrapped
}

// Login calls LOGIN, which answers with one row a title, and with one of nulls where there are no titles.
func (s *session) Login(ctx context.Context, username, password []byte) (store.Login, error) {
	s.begin()
	s.text(username)
	s.text(password)
	var login store.Login
	err := s.each(ctx, store.OpLogin, 4, func(values []driver.Value) error {
		id, ok := values[0].(int64)
		if !ok {
			return fmt.Errorf("customer id is a %T", values[0])
		}
		login.CustomerID = id
		if values[1] != nil {
			login.Titles++
		}
		return nil
	})
	if err != nil {
		return store.Login{}, err
	}
	return login, nil
}

// NewCustomer calls NEW_CUSTOMER.
func (s *session) NewCustomer(ctx context.Context, c *store.Customer) (int64, error) {
	s.begin()
	s.text(c.FirstName)
	s.text(c.LastName)
	s.text(c.Address1)
	s.text(c.Address2)
	s.text(c.City)
	s.text(c.State)
	s.text(c.Zip)
	s.text(c.Country)
	s.param(c.Region)
	s.text(c.Email)
	s.text(c.Phone)
	s.param(c.CreditCardType)
	s.text(c.CreditCard)
	s.text(c.CreditCardExpiration)
	s.text(c.Username)
	s.text(c.Password)
	s.param(c.Age)
	s.param(c.Income)
	s.text([]byte{c.Gender})
	return s.id(ctx, store.OpNewCustomer)
}

// BrowseByCategory calls BROWSE_BY_CATEGORY.
func (s *session) BrowseByCategory(ctx context.Context, batch, category int) (int, error) {
	s.begin()
	s.param(int32(batch))
	s.param(int16(category))
	return s.count(ctx, store.OpBrowseByCategory)
}

// BrowseByActor calls BROWSE_BY_ACTOR.
func (s *session) BrowseByActor(ctx context.Context, batch int, actor []byte) (int, error) {
	s.begin()
	s.param(int32(batch))
	s.text(actor)
	return s.count(ctx, store.OpBrowseByActor)
}

// BrowseByTitle calls BROWSE_BY_TITLE.
func (s *session) BrowseByTitle(ctx context.Context, batch int, title []byte) (int, error) {
	s.begin()
	s.param(int32(batch))
	s.text(title)
	return s.count(ctx, store.OpBrowseByTitle)
}

// Prices reads the prices of the items' products with one statement; a short list is filled up with its first product.
func (s *session) Prices(ctx context.Context, items []store.Item) error {
	if len(items) < 1 || len(items) > maxItems {
		return s.fail(ctx, store.OpPrices, false, fmt.Errorf("%d items, not 1 to %d", len(items), maxItems))
	}
	s.begin()
	for i := range maxItems {
		if i >= len(items) {
			i = 0
		}
		s.param(items[i].Product)
	}
	priced := 0
	err := s.each(ctx, store.OpPrices, 2, func(values []driver.Value) error {
		product, ok := values[0].(int64)
		money, isMoney := values[1].([]byte)
		if !ok || !isMoney {
			return fmt.Errorf("product id is a %T, price a %T", values[0], values[1])
		}
		price, err := parseMoney(money)
		if err != nil {
			return err
		}
		for i := range items {
			if int64(items[i].Product) == product {
				items[i].Price = price
				priced++
			}
		}
		return nil
	})
	if err == nil && priced != len(items) {
		err = s.fail(ctx, store.OpPrices, false, fmt.Errorf("%d of %d items have a product that does not exist", len(items)-priced, len(items)))
	}
	return err
}

// Purchase calls PURCHASE.
func (s *session) Purchase(ctx context.Context, p *store.Purchase) (int64, error) {
	if len(p.Items) < 1 || len(p.Items) > maxItems {
		return 0, s.fail(ctx, store.OpPurchase, false, fmt.Errorf("%d items, not 1 to %d", len(p.Items), maxItems))
	}
	s.begin()
	s.param(int32(p.CustomerID))
	s.param(int32(len(p.Items)))
	s.cents(p.Net)
	s.cents(p.Tax)
	s.cents(p.Total)
	for i := range p.Items {
		s.param(p.Items[i].Product)
		s.param(p.Items[i].Quantity)
	}
	return s.id(ctx, store.OpPurchase)
}

// id sends a call of a procedure that writes and reads the id it returns.
func (s *session) id(ctx context.Context, op store.Op) (id int64, err error) {
	err = s.each(ctx, op, 1, func(values []driver.Value) error {
		var ok bool
		if id, ok = values[0].(int64); !ok {
			return fmt.Errorf("new id is a %T", values[0])
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

// count sends a call of a procedure that reads products and counts them.
func (s *session) count(ctx context.Context, op store.Op) (rows int, err error) {
	err = s.each(ctx, op, len(s.row), func([]driver.Value) error {
		rows++
		return nil
	})
	if err != nil {
		return 0, err
	}
	return rows, nil
}

// parseMoney reads an amount as go-mssqldb hands it over: a decimal number with four places, of which DS2 uses two.
func parseMoney(b []byte) (store.Cents, error) {
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
	if digits != 4 || v%100 != 0 {
		return 0, fmt.Errorf("amount %q is not one of whole hundredths", b)
	}
	if negative {
		v = -v
	}
	return store.Cents(v / 100), nil
}
