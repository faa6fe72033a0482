package ds2

import (
	"context"
	"fmt"
	"time"

	"ds2/internal/measure"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/calls"
)

// User is one virtual customer with its session.
type User struct {
	run     *Run
	target  int
	tally   *measure.Order
	draws   *Draws
	session calls.Session

	// The order being played.
	order    *Order
	browse   *calls.Browse // the search under way
	customer int64         // who orders
	purchase calls.Purchase
	bought   int64 // the id of the order that the purchase made
}

// Connect opens the connection of the user, or another one after it was lost.
func (u *User) Connect(ctx context.Context) (err error) {
	u.session, err = u.run.targets[u.target](ctx)
	return err
}

// Close closes the connection of the user.
func (u *User) Close(ctx context.Context) error { return u.session.Close(ctx) }

// Think draws a think time of that mean.
func (u *User) Think(mean time.Duration) time.Duration { return workload.Think(u.draws.rand, mean) }

// maxTries is how many names a new customer tries. They are drawn from ever more, so that taken
// ones are no accident.
const maxTries = 100

// Play plays one order cycle (WORKLOAD.md section 5): login or new customer, browses, prices,
// purchase.
func (u *User) Play(p workload.Player) error {
	u.order = u.draws.Next()
	if err := u.enterStore(p); err != nil {
		return err
	}
	for i := range u.order.Browses {
		u.browse = &u.order.Browses[i]
		if err := p.Do(u.browse.Op); err != nil {
			return err
		}
	}
	if err := p.Do(calls.OpPrices); err != nil {
		return err
	}
	buy := &u.purchase
	buy.CustomerID = u.customer
	buy.Items = u.order.Items
	buy.Net, buy.Tax, buy.Total = Total(buy.Items)
	if err := p.Do(calls.OpPurchase); err != nil {
		return err
	}
	u.tally.Own[calls.Purchases]++
	if u.bought == 0 {
		u.tally.Own[calls.Rollbacks]++
	} else {
		u.tally.Own[calls.TotalCents] += int64(buy.Total)
		u.run.books.Bought(u.target, u.bought, buy)
	}
	return nil
}

// enterStore logs the customer in, or makes it known.
func (u *User) enterStore(p workload.Player) error {
	if !u.order.New {
		if err := p.Do(calls.OpLogin); err != nil {
			return err
		}
		if u.customer == 0 {
			u.tally.Own[calls.UnknownUsers]++
			const format = "login: the store knows no customer %q: its dataset has another size"
			return fmt.Errorf(format, u.order.Username)
		}
		return nil
	}
	for range maxTries {
		if err := p.Do(calls.OpNewCustomer); err != nil {
			return err
		}
		if u.customer != 0 {
			u.tally.Own[calls.NewCustomers]++
			u.run.books.Registered(u.target, u.customer, u.order.Customer.Username)
			return nil
		}
		u.tally.Own[calls.NamesTaken]++
		u.draws.AnotherName()
	}
	return fmt.Errorf("new customer: %d user names in a row were taken, the last %q",
		maxTries, u.order.Customer.Username)
}

// Call executes an operation of the order that was drawn, once.
func (u *User) Call(ctx context.Context, op workload.Op) (err error) {
	switch s := u.session; op {
	case calls.OpLogin:
		u.customer, _, err = s.Login(ctx, u.order.Username, u.order.Password)
	case calls.OpNewCustomer:
		u.customer, err = s.NewCustomer(ctx, &u.order.Customer)
	case calls.OpPrices:
		err = s.Prices(ctx, u.order.Items)
	case calls.OpPurchase:
		u.bought, err = s.Purchase(ctx, &u.purchase)
	default:
		_, err = s.Browse(ctx, u.browse)
	}
	return err
}

// InDoubt has a new customer try another name, since it may be there under this one. A purchase is
// not tried again: that might make it twice.
func (u *User) InDoubt(op workload.Op) (again bool) {
	if op == calls.OpNewCustomer {
		u.tally.Own[calls.InDoubtCustomers]++
		u.draws.AnotherName()
		return true
	}
	u.tally.Own[calls.InDoubtPurchases]++
	u.tally.Own[calls.InDoubtTotalCents] += int64(u.purchase.Total)
	u.run.books.InDoubt(u.target, &u.purchase)
	return false
}
