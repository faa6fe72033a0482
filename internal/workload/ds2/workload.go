package ds2

import (
	"context"

	"ds2/datagen"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/audit"
	"ds2/internal/workload/ds2/books"
	"ds2/internal/workload/ds2/calls"
)

var (
	_ workload.Workload     = Workload{}
	_ workload.Acknowledger = Workload{}
	_ workload.Exporter     = Workload{}
	_ workload.Resetter     = Workload{}
	_ workload.Dataset      = Dataset{}
	_ workload.Plan         = (*Plan)(nil)
	_ workload.Keeper       = (*Run)(nil)
)

const Name = "ds2"

// Workload is DVD Store 2.
type Workload struct {
	// Size that a database is expected to have; nil: what it says itself. One that DS2's own
	// scripts loaded does not say it.
	Size    *datagen.Size
	Engines calls.Engines // that have the calls that an audit tries
}

func (Workload) Name() string { return Name }

func (Workload) Words() result.Words {
	return result.Words{
		Cycle: "order", Cycles: "orders", Rate: result.OPM, Undone: "rollbacks", Unit: result.OPM,
		Own: "order as in DS2", Cumulative: ", which DS2 calls opm",
		Groups: map[string][]string{
			"browse": workload.Names(
				calls.Operations[calls.OpBrowseByCategory : calls.OpBrowseByTitle+1],
			),
		},
		Added: []result.CountWords{{Count: "new_customers", Words: "new customers"}},
		InDoubt: []result.CountWords{
			{
				Count: "in_doubt_purchases",
				Words: "purchases",
			},
			{Count: "in_doubt_customers", Words: "new customers"},
		},
	}
}

func (Workload) Operations() []workload.Operation { return calls.Operations }

func (Workload) Counts() []string { return calls.Counts }

func (Workload) Counters() []workload.Counter {
	return []workload.Counter{
		{
			Name: "rollbacks_total", Help: "Purchases that were rolled back for lack of stock.",
			Count: calls.Counts[calls.Rollbacks],
		},
		{
			Name: "in_doubt_total",
			Help: "Operations whose commit was cut off, so that they may or may not have happened.",
			By: map[string]string{
				calls.Operations[calls.OpPurchase].Name:    calls.Counts[calls.InDoubtPurchases],
				calls.Operations[calls.OpNewCustomer].Name: calls.Counts[calls.InDoubtCustomers],
			},
		},
	}
}

// Mark reads the highest keys and the sums by which an audit knows what a run changed.
func (Workload) Mark(ctx context.Context, target store.Database, after bool) (result.Marks, error) {
	m, err := audit.ReadMarks(ctx, target, after)
	return m, target.Wrap("read the highest keys of "+target.Label(), err)
}

func (w Workload) Audit(
	ctx context.Context,
	target store.Database,
	a workload.Audit,
) ([]result.Check, error) {
	return audit.Check(ctx, target, w.Engines, w.Size, a)
}

func (Workload) Journal() (header string, entryBytes int) { return books.Header, books.Size }

func (Workload) CheckJournal(
	ctx context.Context, target store.Database, entries []byte, of workload.Noted,
) ([]result.Check, error) {
	return books.Check(ctx, target, entries, of)
}
