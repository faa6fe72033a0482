package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
)

// productColumns is how many columns the browses give of a product.
const productColumns = 7

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

// session is one user's connection. What reads the rows of an answer is made once, and its results stand here, so that a call
// allocates nothing.
type session struct {
	store *Store
	caller

	login  store.Login
	id     int64
	rows   int
	items  []store.Item
	priced int

	readLogin, readID, readProduct, readPrice func([]value) error
}

func (s *Store) newSession(c caller) *session {
	n := &session{store: s, caller: c}
	n.readLogin, n.readID, n.readProduct, n.readPrice = n.takeLogin, n.takeID, n.takeProduct, n.takePrice
	return n
}

func (s *session) takeLogin(values []value) error {
	s.login.CustomerID = values[0].n
	if !values[1].null {
		s.login.Titles++
	}
	return nil
}

func (s *session) takeID(values []value) error {
	s.id = values[0].n
	return nil
}

func (s *session) takeProduct([]value) error {
	s.rows++
	return nil
}

func (s *session) takePrice(values []value) error {
	if values[1].n%100 != 0 {
		return fmt.Errorf("the price of product %d is not a whole number of cents", values[0].n)
	}
	for i := range s.items {
		if int64(s.items[i].Product) == values[0].n {
			s.items[i].Price = store.Cents(values[1].n / 100)
			s.priced++
		}
	}
	return nil
}

// caller sends calls: begin, the parameters, call. There are two: wire, and go-mssqldb where the connection is encrypted.
type caller interface {
	begin(op store.Op)
	int16(v int16)
	int32(v int32)
	text(v []byte)
	cents(v store.Cents)

	// call sends the call and hands every row of the answer to row, down to the last.
	call(ctx context.Context, columns int, row func([]value) error) error
	// whole says that the connection can still be used.
	whole() bool
	close() error
}

// Connect opens a connection for one user.
func (s *Store) Connect(ctx context.Context) (store.Session, error) {
	op := "connect to " + s.Label()
	conn, network, err := s.dial(ctx, s.config)
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	if plain := network.plain(); plain != nil {
		return s.newSession(newWire(plain, int(s.config.PacketSize))), nil
	}
	caller, err := newDriverCaller(ctx, conn)
	if err != nil {
		conn.Close()
		return nil, s.Wrap(op, err)
	}
	return s.newSession(caller), nil
}

// Close ends the connection.
func (s *session) Close(context.Context) error { return s.close() }

// each sends a call and hands every row of the answer to row, down to the last.
func (s *session) each(ctx context.Context, op store.Op, columns int, row func(values []value) error) error {
	if err := ctx.Err(); err != nil {
		return s.fail(ctx, op, false, err)
	}
	if !s.whole() {
		return s.fail(ctx, op, false, driver.ErrBadConn)
	}
	if err := s.call(ctx, columns, row); err != nil {
		return s.fail(ctx, op, op == store.OpNewCustomer || op == store.OpPurchase, err)
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
	s.begin(store.OpLogin)
	s.text(username)
	s.text(password)
	s.login = store.Login{}
	if err := s.each(ctx, store.OpLogin, 4, s.readLogin); err != nil {
		return store.Login{}, err
	}
	return s.login, nil
}

// NewCustomer calls NEW_CUSTOMER.
func (s *session) NewCustomer(ctx context.Context, c *store.Customer) (int64, error) {
	s.begin(store.OpNewCustomer)
	s.text(c.FirstName)
	s.text(c.LastName)
	s.text(c.Address1)
	s.text(c.Address2)
	s.text(c.City)
	s.text(c.State)
	s.text(c.Zip)
	s.text(c.Country)
	s.int16(c.Region)
	s.text(c.Email)
	s.text(c.Phone)
	s.int32(c.CreditCardType)
	s.text(c.CreditCard)
	s.text(c.CreditCardExpiration)
	s.text(c.Username)
	s.text(c.Password)
	s.int16(c.Age)
	s.int32(c.Income)
	s.text([]byte{c.Gender})
	return s.newID(ctx, store.OpNewCustomer)
}

// BrowseByCategory calls BROWSE_BY_CATEGORY.
func (s *session) BrowseByCategory(ctx context.Context, batch, category int) (int, error) {
	s.begin(store.OpBrowseByCategory)
	s.int32(int32(batch))
	s.int16(int16(category))
	return s.count(ctx, store.OpBrowseByCategory)
}

// BrowseByActor calls BROWSE_BY_ACTOR.
func (s *session) BrowseByActor(ctx context.Context, batch int, actor []byte) (int, error) {
	s.begin(store.OpBrowseByActor)
	s.int32(int32(batch))
	s.text(actor)
	return s.count(ctx, store.OpBrowseByActor)
}

// BrowseByTitle calls BROWSE_BY_TITLE.
func (s *session) BrowseByTitle(ctx context.Context, batch int, title []byte) (int, error) {
	s.begin(store.OpBrowseByTitle)
	s.int32(int32(batch))
	s.text(title)
	return s.count(ctx, store.OpBrowseByTitle)
}

// Prices reads the prices of the items' products with one statement; a short list is filled up with its first product.
func (s *session) Prices(ctx context.Context, items []store.Item) error {
	if len(items) < 1 || len(items) > maxItems {
		return s.fail(ctx, store.OpPrices, false, fmt.Errorf("%d items, not 1 to %d", len(items), maxItems))
	}
	s.begin(store.OpPrices)
	for i := range maxItems {
		if i >= len(items) {
			i = 0
		}
		s.int32(items[i].Product)
	}
	s.items, s.priced = items, 0
	err := s.each(ctx, store.OpPrices, 2, s.readPrice)
	s.items = nil
	if err == nil && s.priced != len(items) {
		err = s.fail(ctx, store.OpPrices, false, fmt.Errorf("%d of %d items have a product that does not exist", len(items)-s.priced, len(items)))
	}
	return err
}

// Purchase calls PURCHASE.
func (s *session) Purchase(ctx context.Context, p *store.Purchase) (int64, error) {
	if len(p.Items) < 1 || len(p.Items) > maxItems {
		return 0, s.fail(ctx, store.OpPurchase, false, fmt.Errorf("%d items, not 1 to %d", len(p.Items), maxItems))
	}
	s.begin(store.OpPurchase)
	s.int32(int32(p.CustomerID))
	s.int32(int32(len(p.Items)))
	s.cents(p.Net)
	s.cents(p.Tax)
	s.cents(p.Total)
	for i := range p.Items {
		s.int32(p.Items[i].Product)
		s.int16(p.Items[i].Quantity)
	}
	return s.newID(ctx, store.OpPurchase)
}

// newID sends a call of a procedure that writes and reads the id it returns.
func (s *session) newID(ctx context.Context, op store.Op) (int64, error) {
	s.id = 0
	if err := s.each(ctx, op, 1, s.readID); err != nil {
		return 0, err
	}
	return s.id, nil
}

// count sends a call of a procedure that reads products and counts them.
func (s *session) count(ctx context.Context, op store.Op) (int, error) {
	s.rows = 0
	if err := s.each(ctx, op, productColumns, s.readProduct); err != nil {
		return 0, err
	}
	return s.rows, nil
}
