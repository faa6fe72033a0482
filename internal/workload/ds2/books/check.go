package books

import (
	"context"
	"database/sql"
	"fmt"

	"ds2/internal/result"
	"ds2/internal/workload/ds2/audit"
	"ds2/internal/workload/ds2/calls"
)

// Check compares the entries of journals with what a target, number index of the run's, holds above the marks before:
// all work of one run. Whether every order that is there is consistent is for the audit to say.
func Check(ctx context.Context, db *sql.DB, entries []byte, index int, target string, before result.Marks) ([]result.Check, error) {
	all, err := read(entries, index)
	if err != nil {
		return nil, err
	}
	most := mostRows(int64(len(entries) / Size))
	doubtful := of(doubtful, all)
	orders, err := compareOrders(ctx, db, of(bought, all), doubtful, before[audit.LastOrder], most)
	if err != nil {
		return nil, fmt.Errorf("read the orders of %s: %w", target, err)
	}
	lostCustomers, err := compareCustomers(ctx, db, of(registered, all), before[audit.LastCustomer], most)
	if err != nil {
		return nil, fmt.Errorf("read the customers of %s: %w", target, err)
	}
	strangers := result.Named("orders", numbers(orders.strangers))
	if orders.strange > len(orders.strangers) {
		strangers = fmt.Sprintf("%d, of them first %s", orders.strange, strangers)
	}
	unacknowledged := orders.whole + orders.strange
	return []result.Check{
		result.NewCheck(target, "acknowledged purchases that were lost", len(orders.lost) == 0, 0, result.Named("orders", numbers(orders.lost))),
		result.NewCheck(target, "acknowledged new customers that were lost", len(lostCustomers) == 0, 0, result.Named("customers", numbers(lostCustomers))),
		result.NewCheck(target, "unacknowledged orders: purchases in doubt",
			unacknowledged <= len(doubtful), fmt.Sprintf("0 to %d", len(doubtful)), unacknowledged),
		result.NewCheck(target, fmt.Sprintf("unacknowledged orders that are no purchase in doubt as a whole (%d of %d are)", orders.whole, len(doubtful)),
			orders.strange == 0, 0, strangers),
	}, nil
}

// doubt is how many purchases are in doubt, by what their orders hold.
type doubt map[contents]int

type contents struct {
	customer int64
	total    calls.Cents
	lines    uint16
}

func newDoubt(doubtful []entry) doubt {
	d := make(doubt, len(doubtful))
	for _, e := range doubtful {
		d[contents{e.Customer, e.Total, e.Lines}]++
	}
	return d
}

// resolve tells whether an order that nobody was told of is one of the purchases in doubt, as a whole: same customer,
// total and number of lines. It is in doubt no more then.
func (d doubt) resolve(order entry) bool {
	c := contents{order.Customer, order.Total, order.Lines}
	if d[c] == 0 {
		return false
	}
	d[c]--
	return true
}

// numbers are those of orders or customers.
func numbers(entries []entry) []int64 {
	var all []int64
	for _, e := range entries {
		if e.Kind == registered {
			all = append(all, e.Customer)
		} else {
			all = append(all, e.Order)
		}
	}
	return all
}
