package books

import (
	"context"
	"fmt"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/audit"
)

// Check compares the entries of journals with what a target, number index of the run's, holds above the marks before:
// all work of one run. Whether every order that is there is consistent is for the audit to say.
func Check(
	ctx context.Context, target store.Database, entries []byte, index int, before result.Marks,
) ([]result.Check, error) {
	all, err := read(entries, index)
	if err != nil {
		return nil, err
	}
	doubtful := of(doubtful, all)
	c, err := compare(ctx, target, all, doubtful, before, before[audit.LastOrder], int64(len(entries)/Size))
	if err != nil {
		return nil, err
	}
	strangers := result.Named("orders", numbers(c.strangers))
	if c.strange > len(c.strangers) {
		strangers = fmt.Sprintf("%d, of them first %s", c.strange, strangers)
	}
	var checks []result.Check
	add := func(name string, passed bool, expected, found any) {
		checks = append(checks, result.NewCheck(target.Label(), name, passed, expected, found))
	}
	none := func(name string, lost []entry, what string) {
		add(name, len(lost) == 0, 0, result.Named(what, numbers(lost)))
	}
	none("acknowledged purchases that were lost", of(bought, c.lost), "orders")
	none("acknowledged new customers that were lost", of(registered, c.lost), "customers")
	untold, most := c.whole+c.strange, len(doubtful)
	add("unacknowledged orders: purchases in doubt", untold <= most, fmt.Sprintf("0 to %d", most), untold)
	const whole = "unacknowledged orders that are no purchase in doubt as a whole (%d of %d are)"
	add(fmt.Sprintf(whole, c.whole, most), c.strange == 0, 0, strangers)
	return checks, nil
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
