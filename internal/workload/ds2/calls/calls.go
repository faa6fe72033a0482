// Package calls says what users of DVD Store 2 call on a database. The rooms beside it that are
// named like engines, such as workload/ds2/postgres, carry the calls out; the workload itself draws
// what is called, and knows no engine.
package calls

import (
	"context"
	"fmt"

	"ds2/internal/store"
	"ds2/internal/workload"
)

// Connect opens a connection for one user of a database of its engine, with everything prepared
// that the operations need.
type Connect func(ctx context.Context, target store.Database) (Session, error)

// Engines are how a user connects, by the name of the engine.
type Engines map[string]Connect

// Session is one user's connection: the six procedures of WORKLOAD.md section 4 and the price query
// of section 5. It is used by one goroutine. Every method returns once the last row has been read,
// keeps nothing of its arguments, and returns an error that Classify understands.
type Session interface {
	// Login finds a customer by user name and password, and reads the titles bought before, one a
	// CUST_HIST row, to the last. The id is 0 where there is no such user, or the password is
	// another.
	Login(ctx context.Context, username, password []byte) (customerID int64, titles int, err error)

	// NewCustomer returns the id of the customer it inserted, 0 where the user name is taken.
	NewCustomer(ctx context.Context, c *Customer) (customerID int64, err error)

	// Browse reads the products that a search finds and returns how many there were.
	Browse(ctx context.Context, b *Browse) (rows int, err error)

	// Prices sets the price of each of 1 to 10 items; the same product may stand in several.
	Prices(ctx context.Context, items []Item) error

	// Purchase returns the id of the order it made, 0 where a product's stock fell short and
	// nothing was bought.
	Purchase(ctx context.Context, p *Purchase) (orderID int64, err error)

	// Close ends the connection.
	Close(ctx context.Context) error
}

// Browse is one search, for special products of a category, or for those whose actor or title has
// both words: on PostgreSQL in any order, on SQL Server as a phrase (WORKLOAD.md section 4).
type Browse struct {
	Op       Op     // which of the three
	Batch    int    // how many products at most
	Category int    // 1 to 16, of OpBrowseByCategory
	Text     []byte // two words, of the other two
}

// Cents is an amount of money in hundredths.
type Cents int64

// String gives the amount as a decimal number with two places.
func (c Cents) String() string {
	sign := ""
	if c < 0 {
		sign = "-"
		c = -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}

// Item is one position of a cart.
type Item struct {
	Product  int32
	Quantity int16
	Price    Cents // of one piece
}

// Purchase is the input of PURCHASE: 1 to 10 items.
type Purchase struct {
	CustomerID      int64
	Items           []Item
	Net, Tax, Total Cents
}

// Customer is the input of NEW_CUSTOMER: its 19 values. Texts are views into a buffer of the
// caller.
type Customer struct {
	FirstName, LastName, Address1, Address2, City, State, Zip, Country []byte
	Region                                                             int16
	Email, Phone                                                       []byte
	CreditCardType                                                     int32
	CreditCard, CreditCardExpiration, Username, Password               []byte
	Age                                                                int16
	Income                                                             int32
	Gender                                                             byte // 'M' or 'F'
}

// Op is an operation, by its place among Operations.
type Op = workload.Op

// The operations, in the order of an order cycle.
const (
	OpLogin Op = iota
	OpNewCustomer
	OpBrowseByCategory
	OpBrowseByActor
	OpBrowseByTitle
	OpPrices
	OpPurchase
	NumOps
)

// Operations are the names of those in metrics and records, by Op.
var Operations = []workload.Operation{
	OpLogin:            {Name: "login"},
	OpNewCustomer:      {Name: "new_customer"},
	OpBrowseByCategory: {Name: "browse_by_category"},
	OpBrowseByActor:    {Name: "browse_by_actor"},
	OpBrowseByTitle:    {Name: "browse_by_title"},
	OpPrices:           {Name: "prices", Outside: true}, // DS2's response time leaves it out
	OpPurchase:         {Name: "purchase"},
}
