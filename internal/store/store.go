// Package store is what the rest of the kit knows of a database: the contract that an engine fulfils (contract.go), the
// operations of the DS2 workload and what the kit notes in a database. SQL belongs in package schema, protocol details in
// the engine packages below this one, and decisions about what to run belong to workload and driver.
package store

import "fmt"

// Login is what LOGIN found.
type Login struct {
	CustomerID int64 // 0: no such user, or another password
	Titles     int   // titles bought before, one a CUST_HIST row
}

// Cents is an amount of money in hundredths.
type Cents int64

// String gives the amount as a decimal number with two places.
func (c Cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
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

// Customer is the input of NEW_CUSTOMER: its 19 values. Texts are views into a buffer of the caller.
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

// Op is one operation that a user waits for.
type Op uint8

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

var opNames = [NumOps]string{"login", "new_customer", "browse_by_category", "browse_by_actor", "browse_by_title", "prices", "purchase"}

// String is the operation's name in metrics, records and limits.
func (o Op) String() string { return opNames[o] }
