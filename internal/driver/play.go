package driver

import (
	"errors"
	"fmt"
	"time"

	"ds2/internal/measure"
	"ds2/internal/store"
	"ds2/internal/workload/ds2"
)

// maxNames is how many names a new customer tries. They are drawn from ever more, so that so many taken ones are no
// accident.
const maxNames = 100

// play plays one order (WORKLOAD.md section 5). Its response time counts from due on.
func (u *user) play(due time.Time) {
	u.order = u.draw.Next()
	u.now, u.ds2 = time.Now(), 0
	if err := u.cycle(); err != nil {
		u.giveUp(err)
	} else {
		u.tally.Complete(u.now.Sub(due), u.ds2)
	}
	u.recorder.Record(&u.tally)
}

// cycle is one order cycle: login or new customer, browses, prices, purchase.
func (u *user) cycle() error {
	if err := u.enterStore(); err != nil {
		return err
	}
	for i := range u.order.Browses {
		u.browse = &u.order.Browses[i]
		if err := u.do(u.browse.Op); err != nil {
			return err
		}
	}
	if err := u.do(store.OpPrices); err != nil {
		return err
	}
	p := &u.purchase
	p.CustomerID, p.Items = u.customer, u.order.Items
	p.Net, p.Tax, p.Total = ds2.Total(p.Items)
	if err := u.do(store.OpPurchase); err != nil {
		return err
	}
	u.tally.Purchases++
	if u.bought == 0 {
		u.tally.Rollbacks++
	} else {
		u.tally.TotalCents += int64(p.Total)
		if j := u.driver.config.Journal; j != nil {
			j.Bought(u.target, u.bought, p)
		}
	}
	return nil
}

// enterStore logs the customer in, or makes it known.
func (u *user) enterStore() error {
	if !u.order.New {
		if err := u.do(store.OpLogin); err != nil {
			return err
		}
		if u.customer == 0 {
			u.tally.UnknownUsers++
			return fmt.Errorf("login: the store knows no customer %q: its data are not those of this size", u.order.Username)
		}
		return nil
	}
	for range maxNames {
		if err := u.do(store.OpNewCustomer); err != nil {
			return err
		}
		if u.customer != 0 {
			u.tally.NewCustomers++
			if j := u.driver.config.Journal; j != nil {
				j.Registered(u.target, u.customer, u.order.Customer.Username)
			}
			return nil
		}
		u.tally.NamesTaken++
		u.draw.AnotherName()
	}
	return fmt.Errorf("new customer: %d user names in a row were taken, the last %q", maxNames, u.order.Customer.Username)
}

// do carries out an operation and notes its response time, retries included. DS2's response time leaves out the price
// query.
func (u *user) do(op store.Op) error {
	if err := u.attempt(op); err != nil {
		return err
	}
	now := time.Now()
	d := now.Sub(u.now)
	u.now = now
	u.tally.AddLatency(int(op), d)
	if op != store.OpPrices {
		u.ds2 += d
	}
	return nil
}

// once carries out an operation; opConnect is none.
func (u *user) once(op store.Op) (err error) {
	switch s := u.session; op {
	case store.OpLogin:
		var l store.Login
		l, err = s.Login(u.ctx, u.order.Username, u.order.Password)
		u.customer = l.CustomerID
	case store.OpNewCustomer:
		u.customer, err = s.NewCustomer(u.ctx, &u.order.Customer)
	case store.OpBrowseByCategory:
		_, err = s.BrowseByCategory(u.ctx, u.browse.Batch, u.browse.Category)
	case store.OpBrowseByActor:
		_, err = s.BrowseByActor(u.ctx, u.browse.Batch, u.browse.Text)
	case store.OpBrowseByTitle:
		_, err = s.BrowseByTitle(u.ctx, u.browse.Batch, u.browse.Text)
	case store.OpPrices:
		err = s.Prices(u.ctx, u.order.Items)
	case store.OpPurchase:
		u.bought, err = s.Purchase(u.ctx, &u.purchase)
	}
	return err
}

// giveUp counts an order that was begun and is not completed. Too many of them end the run, apart from those whose
// purchase is in doubt, which is no fault of the store's, and those that the end of the run cut off.
func (u *user) giveUp(err error) {
	u.tally.GivenUp++
	d := u.driver
	if errors.Is(err, errInDoubt) || d.stop.Err() != nil {
		return
	}
	d.log.Warn("give up order", "target", d.config.Targets[u.target].Label(), "err", err)
	if store.Classify(err) == store.Config {
		d.halt(err)
	} else if n := d.givenUp.Add(1); n > int64(d.config.MaxErrors) {
		d.halt(fmt.Errorf("give up after %d orders that could not be completed (max_errors is %d); the last: %w",
			n, d.config.MaxErrors, err))
	}
}

// failure names a failed attempt in the figures.
func failure(op store.Op, class store.Class) measure.Failure {
	return measure.Failure{Operation: opName(op), Class: string(class)}
}
