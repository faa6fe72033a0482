package books

import (
	"context"
	"database/sql"
	"fmt"

	"ds2/internal/result"
)

// Check compares the entries of journals with what a target, number index of the run's, holds above the marks before: all work of
// one run. Whether every order that is there is consistent is for the audit to say.
func Check(ctx context.Context, db *sql.DB, entries []byte, index int, target string, before result.Marks) ([]result.Check, error) {
	all, err := read(entries, index)
	if err != nil {
		return nil, err
	}
	orders, err := compareOrders(ctx, db, of(bought, all), before.Order)
	if err != nil {
		return nil, fmt.Errorf("read the orders of %s: %w", target, err)
	}
	lostCustomers, err := compareCustomers(ctx, db, of(registered, all), before.Customer)
	if err != nil {
		return nil, fmt.Errorf("read the customers of %s: %w", target, err)
	}
	doubtful := of(doubtful, all)
	whole, strangers := settle(doubtful, orders.unacknowledged)
	return []result.Check{
		{
			Target: target, Name: "acknowledged purchases that were lost",
			Passed: len(orders.lost) == 0, Expected: "0", Found: named("orders", numbers(orders.lost)),
		},
		{
			Target: target, Name: "acknowledged new customers that were lost",
			Passed: len(lostCustomers) == 0, Expected: "0", Found: named("customers", numbers(lostCustomers)),
		},
		{
			Target: target, Name: "unacknowledged orders: purchases in doubt",
			Passed: len(orders.unacknowledged) <= len(doubtful), Expected: fmt.Sprintf("0 to %d", len(doubtful)), Found: fmt.Sprint(len(orders.unacknowledged)),
		},
		{
			Target: target, Name: fmt.Sprintf("unacknowledged orders that are no purchase in doubt as a whole (%d of %d are)", whole, len(doubtful)),
			Passed: len(strangers) == 0, Expected: "0", Found: named("orders", numbers(strangers)),
		},
	}, nil
}

// settle tells which purchases in doubt were made: those that are there as a whole, same customer, total and number of
// lines. What is there and none of them is strange.
func settle(doubtful, unacknowledged []entry) (whole int, strange []entry) {
	type contents struct {
		customer int64
		total    int64
		lines    uint16
	}
	open := map[contents]int{}
	for _, e := range doubtful {
		open[contents{e.Customer, int64(e.Total), e.Lines}]++
	}
	for _, e := range unacknowledged {
		c := contents{e.Customer, int64(e.Total), e.Lines}
		if open[c] > 0 {
			open[c]--
			whole++
		} else {
			strange = append(strange, e)
		}
	}
	return whole, strange
}
