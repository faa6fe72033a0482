package load

import (
	"context"
	"sync"
	"time"

	"ds2/datagen"
	"ds2/internal/pace"
	"ds2/internal/store"
	"ds2/schema"
)

// The kinds of work of a reset: what it costs depends on what runs added, or on what the tables hold.
var (
	removing  = pace.Kind{Name: "remove", Prior: 1}
	vacuuming = pace.Kind{Name: "vacuum", Prior: 1}
)

// resetWork follows a reset: its statements one after the other.
type resetWork struct {
	estimate pace.Estimate
	pieces   map[string]piece // by the names of statements
	tell     store.Tell

	mu    sync.Mutex
	doing string
}

type piece struct {
	kind  pace.Kind
	units float64
}

// planReset computes from the rows that runs added what there is to do.
func planReset(ctx context.Context, s store.Store, size datagen.Size, statements []schema.Statement, tell store.Tell) (*resetWork, error) {
	var customer, order int64
	err := s.DB().QueryRowContext(ctx, "SELECT (SELECT COALESCE(MAX(customerid), 0) FROM customers), (SELECT COALESCE(MAX(orderid), 0) FROM orders)").Scan(&customer, &order)
	if err != nil {
		return nil, s.Wrap("ask what is to be removed from "+s.Label(), err)
	}
	orders := int64(size.OrdersPerMonth) * datagen.Months
	added := map[string]float64{"customers": float64(customer - int64(size.Customers)), "inventory": float64(order - orders)}
	held := map[string]float64{"customers": float64(size.Customers), "orders": float64(orders), "inventory": float64(size.Products)}
	added["orders"] = added["inventory"]
	for _, table := range []string{"orderlines", "cust_hist"} {
		added[table], held[table] = linesPerOrder*added["orders"], linesPerOrder*float64(orders)
	}
	w := &resetWork{pieces: map[string]piece{}, tell: tell, doing: "look for what is to be removed"}
	for _, s := range statements {
		p := piece{removing, s.CostAdded * max(added[s.Table], 0)}
		if s.Cost > 0 {
			p = piece{vacuuming, s.Cost * held[s.Table]}
			if added[s.Table] < few*held[s.Table] {
				p.units *= added[s.Table] / (few * held[s.Table])
			}
		}
		if s.UnlessUntouched && added[s.Table] <= 0 {
			p.units = 0
		}
		w.pieces[s.Name] = p
		w.estimate.Plan(p.kind, p.units)
	}
	return w, nil
}

// few is the share of a table's rows below which vacuuming looks at what was removed alone: the server then leaves indexes out.
const few = 0.02

// linesPerOrder is how many lines an order has on average.
const linesPerOrder = 5

// begin notes that a statement begins.
func (w *resetWork) begin(statement string) {
	p := w.pieces[statement]
	w.estimate.Begin(p.kind, p.units)
	w.mu.Lock()
	w.doing = statement
	w.mu.Unlock()
	w.show()
}

func (w *resetWork) show() {
	share, left := w.estimate.Left()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell(w.doing, share, left)
}

// follow tells every second how the reset goes on, until stop is called.
func (w *resetWork) follow() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				w.show()
			}
		}
	})
	return func() { cancel(); group.Wait() }
}
