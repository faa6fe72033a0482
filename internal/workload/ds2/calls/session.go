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

	id    int64
	rows  int
	items []Item

	takeLogin, takeID, takeProduct, takePrice func([]store.Value) error
}

// NewSession calls the procedures on a connection.
func NewSession(c Conn) Session {
	s := &session{Conn: c}
	s.takeLogin = s.readLogin
	s.takeID = s.readID
	s.takeProduct = s.readProduct
	s.takePrice = s.readPrice
	return s
}

// Login calls LOGIN, which answers with one row a title, and with one of nulls where there are no
// titles.
func (s *session) Login(
	ctx context.Context,
	username, password []byte,
) (customerID int64, titles int, err error) {
	s.Call(int(OpLogin))
	s.Text(username)
	s.Text(password)
	s.id = 0
	s.rows = 0
	err = s.Each(ctx, false, 4, s.takeLogin)
	return s.id, s.rows, err
}

func (s *session) readLogin(row []store.Value) error {
	s.id = row[0].N
	if !row[1].Null {
		s.rows++
	}
	return nil
}

func (s *session) NewCustomer(ctx context.Context, c *Customer) (int64, error) {
	s.Call(int(OpNewCustomer))
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
	return s.newID(ctx, OpNewCustomer)
}

func (s *session) Browse(ctx context.Context, b *Browse) (int, error) {
	s.Call(int(b.Op))
	s.Int32(int32(b.Batch))
	if b.Op == OpBrowseByCategory {
		s.Int16(int16(b.Category))
	} else {
		s.Text(b.Text)
	}
	const columns = 7
	s.rows = 0
	err := s.Each(ctx, false, columns, s.takeProduct)
	return s.rows, err
}

func (s *session) readProduct([]store.Value) error {
	s.rows++
	return nil
}

func (s *session) Prices(ctx context.Context, items []Item) error {
	s.Call(int(OpPrices))
	s.Products(items)
	s.items = items
	s.rows = 0
	err := s.Each(ctx, false, 2, s.takePrice)
	s.items = nil
	if err == nil && s.rows != len(items) {
		err = wrong(
			OpPrices,
			"%d of %d items have a product that does not exist",
			len(items)-s.rows,
			len(items),
		)
	}
	return err
}

func (s *session) readPrice(row []store.Value) error {
	if row[1].N%100 != 0 {
		return fmt.Errorf("the price of product %d is not a whole number of cents", row[0].N)
	}
	for i := range s.items {
		if int64(s.items[i].Product) == row[0].N {
			s.items[i].Price = Cents(row[1].N / 100)
			s.rows++
		}
	}
	return nil
}

func (s *session) Purchase(ctx context.Context, p *Purchase) (int64, error) {
	s.Call(int(OpPurchase))
	s.Int32(int32(p.CustomerID))
	s.Int32(int32(len(p.Items)))
	s.Hundredths(int64(p.Net))
	s.Hundredths(int64(p.Tax))
	s.Hundredths(int64(p.Total))
	s.Lines(p.Items)
	return s.newID(ctx, OpPurchase)
}

// newID sends a call of a procedure that writes and reads the id it returns, which is one row: 0
// where nothing was written.
func (s *session) newID(ctx context.Context, op Op) (int64, error) {
	s.id = 0
	s.rows = 0
	if err := s.Each(ctx, true, 1, s.takeID); err != nil {
		return 0, err
	}
	if s.rows != 1 {
		return 0, wrong(op, "the server gave %d new ids, not one", s.rows)
	}
	return s.id, nil
}

func (s *session) readID(row []store.Value) error {
	if row[0].Null {
		return errors.New("the new id is NULL")
	}
	s.id = row[0].N
	s.rows++
	return nil
}

// wrong is the error of an operation whose answer says too little.
func wrong(op Op, format string, args ...any) error {
	return &store.Error{Op: Operations[op].Name, Class: store.Bug, Err: fmt.Errorf(format, args...)}
}
