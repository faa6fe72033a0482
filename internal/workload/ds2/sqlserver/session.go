// Package sqlserver is the calls of DVD Store 2 on SQL Server.
package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/workload/ds2/calls"
)

var (
	_ calls.Connect = Connect
	_ calls.Session = (*session)(nil)
)

// productColumns is how many columns the browses give of a product.
const productColumns = 7

// maxItems is the number of products that PURCHASE and the price query take.
const maxItems = 10

// statements are what the operations send: the name of the DS2 procedure, but for the prices, which have none.
var statements = func() []sqlserver.Statement {
	s := make([]sqlserver.Statement, calls.NumOps)
	for op, sql := range map[calls.Op]string{
		calls.OpLogin:            "dbo.DS2_LOGIN",
		calls.OpNewCustomer:      "dbo.DS2_NEW_CUSTOMER",
		calls.OpBrowseByCategory: "dbo.DS2_BROWSE_BY_CATEGORY",
		calls.OpBrowseByActor:    "dbo.DS2_BROWSE_BY_ACTOR",
		calls.OpBrowseByTitle:    "dbo.DS2_BROWSE_BY_TITLE",
		calls.OpPrices:           "SELECT PROD_ID, PRICE FROM dbo.PRODUCTS WHERE PROD_ID IN (@p1, @p2, @p3, @p4, @p5, @p6, @p7, @p8, @p9, @p10)",
		calls.OpPurchase:         "dbo.DS2_PURCHASE",
	} {
		s[op] = sqlserver.Statement{Name: op.String(), SQL: sql}
	}
	products := make([]string, maxItems)
	for i := range products {
		products[i] = fmt.Sprintf("@p%d int", i+1)
	}
	s[calls.OpPrices].Declared = strings.Join(products, ",")
	return s
}()

// session is one user's connection. What reads the rows of an answer is made once, and its results stand here, so that a call
// allocates nothing.
type session struct {
	*sqlserver.Conn

	login  calls.Login
	id     int64
	ids    int // rows that it came in
	rows   int
	items  []calls.Item
	priced int

	readLogin, readID, readProduct, readPrice func([]sqlserver.Value) error
}

func (s *session) takeLogin(values []sqlserver.Value) error {
	s.login.CustomerID = values[0].N
	if !values[1].Null {
		s.login.Titles++
	}
	return nil
}

func (s *session) takeID(values []sqlserver.Value) error {
	if values[0].Null {
		return errors.New("the new id is NULL")
	}
	s.id = values[0].N
	s.ids++
	return nil
}

func (s *session) takeProduct([]sqlserver.Value) error {
	s.rows++
	return nil
}

func (s *session) takePrice(values []sqlserver.Value) error {
	if values[1].N%100 != 0 {
		return fmt.Errorf("the price of product %d is not a whole number of cents", values[0].N)
	}
	for i := range s.items {
		if int64(s.items[i].Product) == values[0].N {
			s.items[i].Price = calls.Cents(values[1].N / 100)
			s.priced++
		}
	}
	return nil
}

// Connect opens a connection for one user.
func Connect(ctx context.Context, target store.Database) (calls.Session, error) {
	conn, err := target.(*sqlserver.Store).ConnectUser(ctx, statements...)
	if err != nil {
		return nil, err
	}
	s := &session{Conn: conn}
	s.readLogin, s.readID, s.readProduct, s.readPrice = s.takeLogin, s.takeID, s.takeProduct, s.takePrice
	return s, nil
}

// call begins the call of an operation.
func (s *session) call(op calls.Op) { s.Call(int(op)) }

// fail is the error of an operation that was not sent, or whose answer says too little.
func (s *session) fail(ctx context.Context, op calls.Op, err error) error {
	return s.Fail(ctx, op.String(), false, err)
}

// Login calls LOGIN, which answers with one row a title, and with one of nulls where there are no titles.
func (s *session) Login(ctx context.Context, username, password []byte) (calls.Login, error) {
	s.call(calls.OpLogin)
	s.Text(username)
	s.Text(password)
	s.login = calls.Login{}
	if err := s.Each(ctx, false, 4, s.readLogin); err != nil {
		return calls.Login{}, err
	}
	return s.login, nil
}

// NewCustomer calls NEW_CUSTOMER.
func (s *session) NewCustomer(ctx context.Context, c *calls.Customer) (int64, error) {
	s.call(calls.OpNewCustomer)
	s.Text(c.FirstName)
	s.Text(c.LastName)
	s.Text(c.Address1)
	s.Text(c.Address2)
	s.Text(c.City)
	s.Text(c.State)
	s.Text(c.Zip)
	s.Text(c.Country)
	s.Int16(c.Region)
	s.Text(c.Email)
	s.Text(c.Phone)
	s.Int32(c.CreditCardType)
	s.Text(c.CreditCard)
	s.Text(c.CreditCardExpiration)
	s.Text(c.Username)
	s.Text(c.Password)
	s.Int16(c.Age)
	s.Int32(c.Income)
	s.Text([]byte{c.Gender})
	return s.newID(ctx, calls.OpNewCustomer)
}

// BrowseByCategory calls BROWSE_BY_CATEGORY.
func (s *session) BrowseByCategory(ctx context.Context, batch, category int) (int, error) {
	s.call(calls.OpBrowseByCategory)
	s.Int32(int32(batch))
	s.Int16(int16(category))
	return s.count(ctx)
}

// BrowseByActor calls BROWSE_BY_ACTOR.
func (s *session) BrowseByActor(ctx context.Context, batch int, actor []byte) (int, error) {
	s.call(calls.OpBrowseByActor)
	s.Int32(int32(batch))
	s.Text(actor)
	return s.count(ctx)
}

// BrowseByTitle calls BROWSE_BY_TITLE.
func (s *session) BrowseByTitle(ctx context.Context, batch int, title []byte) (int, error) {
	s.call(calls.OpBrowseByTitle)
	s.Int32(int32(batch))
	s.Text(title)
	return s.count(ctx)
}

// Prices reads the prices of the items' products with one statement; a short list is filled up with its first product.
func (s *session) Prices(ctx context.Context, items []calls.Item) error {
	if len(items) < 1 || len(items) > maxItems {
		return s.fail(ctx, calls.OpPrices, fmt.Errorf("%d items, not 1 to %d", len(items), maxItems))
	}
	s.call(calls.OpPrices)
	for i := range maxItems {
		if i >= len(items) {
			i = 0
		}
		s.Int32(items[i].Product)
	}
	s.items, s.priced = items, 0
	err := s.Each(ctx, false, 2, s.readPrice)
	s.items = nil
	if err == nil && s.priced != len(items) {
		err = s.fail(ctx, calls.OpPrices, fmt.Errorf("%d of %d items have a product that does not exist", len(items)-s.priced, len(items)))
	}
	return err
}

// Purchase calls PURCHASE.
func (s *session) Purchase(ctx context.Context, p *calls.Purchase) (int64, error) {
	if len(p.Items) < 1 || len(p.Items) > maxItems {
		return 0, s.fail(ctx, calls.OpPurchase, fmt.Errorf("%d items, not 1 to %d", len(p.Items), maxItems))
	}
	s.call(calls.OpPurchase)
	s.Int32(int32(p.CustomerID))
	s.Int32(int32(len(p.Items)))
	s.Hundredths(int64(p.Net))
	s.Hundredths(int64(p.Tax))
	s.Hundredths(int64(p.Total))
	for i := range p.Items {
		s.Int32(p.Items[i].Product)
		s.Int16(p.Items[i].Quantity)
	}
	return s.newID(ctx, calls.OpPurchase)
}

// newID sends a call of a procedure that writes and reads the id it returns, which is one row: 0 where nothing was written.
func (s *session) newID(ctx context.Context, op calls.Op) (int64, error) {
	s.id, s.ids = 0, 0
	if err := s.Each(ctx, true, 1, s.readID); err != nil {
		return 0, err
	}
	if s.ids != 1 {
		return 0, s.fail(ctx, op, fmt.Errorf("the server gave %d new ids, not one", s.ids))
	}
	return s.id, nil
}

// count sends a call of a procedure that reads products and counts them.
func (s *session) count(ctx context.Context) (int, error) {
	s.rows = 0
	if err := s.Each(ctx, false, productColumns, s.readProduct); err != nil {
		return 0, err
	}
	return s.rows, nil
}
