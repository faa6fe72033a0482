package calls

import (
	"context"
	"errors"
	"fmt"

	"ds2/internal/store"
)

// Conn is a connection to a database of an engine, for one call after the other: Call begins that
// of an operation, its parameters follow, and Each sends it.
type Conn interface {
	Call(op int)
	Int16(v int16)
	Int32(v int32)
	Text(v []byte)
	Hundredths(v int64)
	Products(items []Item) // the parameters of the price query
	Lines(items []Item)    // the last parameters of PURCHASE: products and quantities

	// Each hands take every row of the answer, which has n columns. Amounts are in 1/10,000.
	Each(ctx context.Context, writes bool, columns int, take func([]store.Value) error) error
	Close(ctx context.Context) error
}

// MaxItems is how many items a purchase or the price query takes; they take one at least.
const MaxItems = 10

// session makes the calls on a connection. What reads the rows of an answer is made once, and its
// results stand here, so that a call allocates nothing.
type session struct {
	Conn
	gender [1]byte

	op    Op // that is called
	id    int64
	rows  int
	items []Item

	take func([]store.Value) error // readRow
}

// NewSession calls the procedures on a connection.
func NewSession(c Conn) Session {
	s := &session{Conn: c}
	s.take = s.readRow
	return s
}

// call begins a call, which has no result yet.
func (s *session) call(op Op) {
	s.Call(int(op))
	s.op = op
	s.id = 0
	s.rows = 0
}

// readRow takes a row of the answer to the call.
func (s *session) readRow(row []store.Value) error {
	s.rows++
	switch s.op {
	case OpLogin:
		s.id = row[0].N
		if row[1].Null {
			s.rows--
		}
	case OpNewCustomer, OpPurchase:
		if row[0].Null {
			return errors.New("the new id is NULL")
		}
		s.id = row[0].N
	case OpPrices:
		s.rows--
		return s.setPrice(row[0].N, row[1].N)
	}
	return nil
}

// setPrice sets the price, in 1/10,000, of the items that have a product.
func (s *session) setPrice(product, price int64) error {
	if price%100 != 0 {
		return fmt.Errorf("the price of product %d is not a whole number of cents", product)
	}
	for i := range s.items {
		if int64(s.items[i].Product) == product {
			s.items[i].Price = Cents(price / 100)
			s.rows++
		}
	}
	return nil
}

// Login calls LOGIN, which answers with one row a title, and with one of nulls where there are no
// titles.
func (s *session) Login(
	ctx context.Context,
	username, password []byte,
) (customerID int64, titles int, err error) {
	s.call(OpLogin)
	s.Text(username)
	s.Text(password)
	err = s.Each(ctx, false, 4, s.take)
	return s.id, s.rows, err
}

// NewCustomer calls NEW_CUSTOMER with its 19 parameters, in the order of WORKLOAD.md section 4.
func (s *session) NewCustomer(ctx context.Context, c *Customer) (int64, error) {
	s.call(OpNewCustomer)
	names := [...][]byte{
		c.FirstName, c.LastName, c.Address1, c.Address2, c.City, c.State, c.Zip, c.Country,
	}
	for _, v := range names {
		s.Text(v)
	}
	s.Int16(c.Region)
	s.Text(c.Email)
	s.Text(c.Phone)
	s.Int32(c.CreditCardType)
	for _, v := range [...][]byte{c.CreditCard, c.CreditCardExpiration, c.Username, c.Password} {
		s.Text(v)
	}
	s.Int16(c.Age)
	s.Int32(c.Income)
	s.gender[0] = c.Gender
	s.Text(s.gender[:])
	return s.newID(ctx)
}

// Browse calls one of the three procedures that search, and counts the products that come.
func (s *session) Browse(ctx context.Context, b *Browse) (int, error) {
	s.call(b.Op)
	s.Int32(int32(b.Batch))
	if b.Op == OpBrowseByCategory {
		s.Int16(int16(b.Category))
	} else {
		s.Text(b.Text)
	}
	const columns = 7
	err := s.Each(ctx, false, columns, s.take)
	return s.rows, err
}

// Prices asks for the prices of a cart. A product that is not there leaves an item without a price,
// which is an error: the order would be paid too little.
func (s *session) Prices(ctx context.Context, items []Item) error {
	s.call(OpPrices)
	s.Products(items)
	s.items = items
	err := s.Each(ctx, false, 2, s.take)
	s.items = nil
	if err == nil && s.rows != len(items) {
		err = s.wrong("%d of %d items have a product that does not exist",
			len(items)-s.rows, len(items))
	}
	return err
}

// Purchase calls PURCHASE with the whole cart, which is one round trip and one transaction.
func (s *session) Purchase(ctx context.Context, p *Purchase) (int64, error) {
	s.call(OpPurchase)
	s.Int32(int32(p.CustomerID))
	s.Int32(int32(len(p.Items)))
	s.Hundredths(int64(p.Net))
	s.Hundredths(int64(p.Tax))
	s.Hundredths(int64(p.Total))
	s.Lines(p.Items)
	return s.newID(ctx)
}

// newID sends a call of a procedure that writes and reads the id it returns, which is one row: 0
// where nothing was written.
func (s *session) newID(ctx context.Context) (int64, error) {
	if err := s.Each(ctx, true, 1, s.take); err != nil {
		return 0, err
	}
	if s.rows != 1 {
		return 0, s.wrong("the server gave %d new ids, not one", s.rows)
	}
	return s.id, nil
}

// wrong is the error of an operation whose answer says too little.
func (s *session) wrong(format string, args ...any) error {
	return store.Bug.Fail(Operations[s.op].Name, "", format, args...)
}
