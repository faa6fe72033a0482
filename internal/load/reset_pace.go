package load

import (
	"context"
	"sync"
	"time"

	"ds2/internal/pace"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// unitSeconds is what a unit of a reset takes: removing a row of CUST_HIST on PostgreSQL 15, two processors and one fast drive.
const unitSeconds = 4e-6

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
func planReset(r workload.Reset, tell store.Tell) *resetWork {
	added, held := r.Added, r.Held
	w := &resetWork{pieces: map[string]piece{}, tell: tell, doing: "look for what is to be removed"}
	w.estimate.Seconds = true
	for _, s := range r.Statements {
		// No statement says how far it is, so each is a kind of its own: how fast the others were, all in all, says more than any of them.
		p := piece{pace.Kind{Name: s.Name, Prior: unitSeconds}, s.CostAdded * max(added[s.Table], 0)}
		if s.Cost > 0 {
			p.units = s.Cost * held[s.Table]
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
	return w
}

// few is the share of a table's rows below which vacuuming looks at what was removed alone: the server then leaves indexes out.
const few = 0.02

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
