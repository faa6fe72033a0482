package durability

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"ds2/internal/measure"
	"ds2/internal/result"
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

// Coming are the cuts that are to come in a run, with the journal of what the server has acknowledged. A nil one has none.
type Coming struct {
	*Journal
	plan Plan
	path string // of the journal
	due  chan struct{}
	set  bool // due is closed

	before map[int32]int64 // pieces sold by product, when Journal.sold was empty last
	mark   result.Marks    // before the first orders
	ends   []int64         // of the journal, at each cut
	lost   map[entry]bool  // what was found lost so far

	mu   sync.Mutex
	cuts []result.Cut
}

// Begin begins the journal in the directory of the run's record. A run whose server somebody else may cut off has no plan,
// only the journal.
func (p Plan) Begin(dir string) (*Coming, error) {
	path := filepath.Join(dir, File)
	journal, err := Create(path)
	if err != nil {
		return nil, err
	}
	return &Coming{Journal: journal, plan: p, path: path, due: make(chan struct{}), lost: map[entry]bool{}}, nil
}

// Cuts is how many cuts there are to be.
func (c *Coming) Cuts() int {
	if c == nil || c.plan.Server == nil {
		return 0
	}
	return max(c.plan.Cycles, 1)
}

// Baseline notes what the target held before the first orders.
func (c *Coming) Baseline(ctx context.Context, db *sql.DB, mark result.Marks) (err error) {
	if c == nil || c.plan.Cycles == 0 {
		return nil
	}
	c.mark = mark
	if c.before, err = readSales(ctx, db); err != nil {
		return fmt.Errorf("read the stock: %w", err)
	}
	return nil
}

// Sample sets off the cuts when their time has come.
func (c *Coming) Sample(s measure.Sample) {
	if c == nil || c.set {
		return
	}
	if c.plan.Cycles > 0 && s.Phase == measure.PhaseRun || c.plan.Cycles == 0 && s.End >= c.plan.After {
		c.set = true
		close(c.due)
	}
}

func (c *Coming) add(cut result.Cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cuts = append(c.cuts, cut)
}

// Done are the cuts so far.
func (c *Coming) Done() []result.Cut {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.cuts)
}

// Lost compares the journal with what the target holds above the marks before; see Check.
func (c *Coming) Lost(ctx context.Context, db *sql.DB, target string, before result.Marks) ([]result.Check, error) {
	return Check(ctx, db, []string{c.path}, 0, target, before)
}
