package durability

import (
	"context"
	"path/filepath"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// Users are the users of a run, as far as a cut concerns them.
type Users interface {
	// Hold keeps those without a connection from connecting, until Release.
	Hold()
	// Abort cuts off whatever is under way and waits until nothing is.
	Abort(ctx context.Context)
	// Release lets those go on that Hold keeps.
	Release()
}

// CutSchedule are the cuts that are to come in a run, with the journal of what the server has acknowledged. A nil one
// has none.
type CutSchedule struct {
	*Journal
	plan Plan
	path string          // of the journal
	due  context.Context // is over when the first cut may come
	come context.CancelFunc

	workload workload.Acknowledger
	books    workload.Cuts // nil: nothing is compared after each cut

	changed []string       // settings of the server, for a replay test
	stood   store.LogStand // before the cut of a replay test
	replay  *result.Replay // what the test measured
	cuts    []result.Cut   // so far
}

// Begin begins the journal in the directory of the run's record. A run whose server somebody else may cut off has no
// plan, only the journal.
func (p Plan) Begin(dir string, w workload.Acknowledger) (*CutSchedule, error) {
	path := filepath.Join(dir, File)
	header, _ := w.Journal()
	journal, err := Create(path, header)
	if err != nil {
		return nil, err
	}
	c := &CutSchedule{Journal: journal, plan: p, path: path, workload: w}
	c.due, c.come = context.WithCancel(context.Background())
	return c, nil
}

// Cuts is how many cuts there are to be.
func (c *CutSchedule) Cuts() int {
	if c == nil || c.plan.Server == nil {
		return 0
	}
	return max(c.plan.Cycles, 1)
}

// Baseline notes what the target held before the first orders.
func (c *CutSchedule) Baseline(
	ctx context.Context, k workload.Keeper, target store.Database, before result.Marks,
) (err error) {
	if c.Cuts() == 0 {
		return nil
	}
	if _, holds := k.(workload.Holder); c.plan.Cycles == 0 && !holds {
		return nil
	}
	c.books, err = k.Cuts(ctx, target, before)
	return err
}

// Sample sets off the cuts when their time has come.
func (c *CutSchedule) Sample(s measure.Sample) {
	if c == nil {
		return
	}
	if c.plan.Cycles > 0 && s.Phase == measure.PhaseRun || c.plan.Cycles == 0 && s.End >= c.plan.After {
		c.come()
	}
}

// Check compares journals with what a target, number index of the run's, holds above the marks before: all work of one
// run, of which each driver machine has a journal.
func Check(
	ctx context.Context, w workload.Acknowledger, target store.Database, paths []string, index int, before result.Marks,
) ([]result.Check, error) {
	var all []byte
	for _, path := range paths {
		more, err := Read(path, w, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return w.CheckJournal(ctx, target, all, index, before)
}
