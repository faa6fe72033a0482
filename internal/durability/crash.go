package durability

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/store"
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

// Target is what is cut off.
type Target struct {
	DB    *sql.DB
	Users Users
	Log   *slog.Logger
	Label string

	Checkpoint func(context.Context) error                    // nil: the server has none
	DeepCheck  func(context.Context) (store.DeepCheck, error) // reads and checks every page
}

// Happen waits for each cut to be due and brings it about. orders is over when no new ones begin; cuts that were to come then
// are an error. A server that was cut off is started again whatever happens, unless ctx is over.
func (c *Coming) Happen(ctx, orders context.Context, t Target) error {
	ended := func() error { return fmt.Errorf("%w: %s, and %d came", ErrEnded, c.plan, len(c.Done())) }
	select {
	case <-c.due:
	case <-orders.Done():
		return ended()
	}
	if c.plan.Cycles == 0 {
		cut, err := c.cut(ctx, t)
		if err == nil {
			c.add(cut)
		}
		return err
	}
	defer t.Users.Release()
	for i, m := range c.plan.moments() {
		if !c.await(orders, t, &m) {
			return ended()
		}
		cut, err := c.cut(ctx, t)
		cut.When = m.kind
		if err == nil {
			err = c.compare(ctx, t, &cut)
		}
		if err == nil && c.plan.DeepEvery > 0 && (i+1)%c.plan.DeepEvery == 0 {
			err = deepCheck(ctx, t, &cut)
		}
		if errors.Is(err, errKill) {
			return fmt.Errorf("cut %d of %d: %w", i+1, c.plan.Cycles, err)
		}
		if ctx.Err() != nil { // nobody knows
			return errors.Join(err, ended())
		}
		if err != nil {
			cut.Error = err.Error()
		}
		c.add(cut)
		t.Log.Info("cut", "number", i+1, "of", c.plan.Cycles, "when", cut.When, "acknowledged", cut.Acknowledged, "in_doubt", cut.InDoubt,
			"lost", cut.Lost, "stale", cut.Stale, "recovery_s", cut.Recovery)
		t.Users.Release()
		if err != nil {
			return fmt.Errorf("cut %d of %d: %w", i+1, c.plan.Cycles, err)
		}
	}
	pause(orders, c.plan.After/2) // orders go on after the last, too
	return nil
}

// ErrEnded says that a run ended before all cuts had come.
var ErrEnded = errors.New("the run ended before the server was cut off as often as planned")

func (c *Coming) add(cut result.Cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cuts = append(c.cuts, cut)
}

// Done are the cuts so far.
func (c *Coming) Done() []result.Cut {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]result.Cut(nil), c.cuts...)
}

// pause waits for d; false where ctx is over before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// await waits until a cut is due; false where the orders are over before. A checkpoint that is over already, or none at all,
// makes the moment one at random.
func (c *Coming) await(orders context.Context, t Target, m *moment) bool {
	if !pause(orders, m.wait) {
		return false
	}
	switch m.kind {
	case atCheckpoint:
		if !duringCheckpoint(orders, t, m.late) {
			m.kind = atRandom
		}
	case atBurst:
		c.burst(orders)
	}
	return orders.Err() == nil
}

// longestStay is how far into a checkpoint a cut comes at most.
const longestStay = 200 * time.Millisecond

// duringCheckpoint has the server begin a checkpoint and returns amid it; false where it came to its end before.
func duringCheckpoint(orders context.Context, t Target, late float64) bool {
	if t.Checkpoint == nil {
		return false
	}
	done := make(chan error, 1)
	// It ends with the server, at the latest.
	go func() { done <- t.Checkpoint(context.WithoutCancel(orders)) }()
	select {
	case err := <-done:
		if err != nil {
			t.Log.Warn("no checkpoint", "err", err)
		}
		return false
	case <-time.After(time.Duration(late * float64(longestStay))):
		return true
	}
}

// A burst is a slot of time in which as many purchases were acknowledged as in the best of so many slots before.
const (
	burstSlot     = 5 * time.Millisecond
	burstBefore   = 200
	burstPatience = 400
)

// burst waits for a burst of commits, not for ever.
func (c *Coming) burst(orders context.Context) {
	best := int64(0)
	last := c.Count()
	for slot := range burstBefore + burstPatience {
		if !pause(orders, burstSlot) {
			return
		}
		now := c.Count()
		n := now - last
		last = now
		if slot >= burstBefore && n >= best {
			return
		}
		if slot < burstBefore {
			best = max(best, n)
		}
	}
}

// cut kills the server, starts it again and waits until it takes connections. With cycles the users are held from before the
// kill until Release.
func (c *Coming) cut(ctx context.Context, t Target) (cut result.Cut, err error) {
	// What is not on this machine's disk does not count as acknowledged, should this machine be cut off too.
	if _, err := c.Sync(); err != nil {
		return cut, err
	}
	if c.plan.Cycles > 0 {
		t.Users.Hold()
	}
	t.Log.Warn("kill the server")
	cut.At = time.Now()
	if err := c.plan.Server.Kill(ctx); err != nil {
		return cut, fmt.Errorf("%w: %w", errKill, err)
	}
	if c.plan.Cycles > 0 {
		t.Users.Abort(ctx)
	}
	started := time.Now()
	if err := c.plan.Server.Start(ctx); err != nil {
		return cut, err
	}
	if err := c.reachable(ctx, t.DB); err != nil {
		return cut, err
	}
	cut.Down, cut.Recovery = time.Since(cut.At).Seconds(), time.Since(started).Seconds()
	t.Log.Warn("the server is back", "down_s", cut.Down)
	return cut, nil
}

// errKill says that the server was not cut off. One that could not be started again was, and what it holds nobody knows.
var errKill = errors.New("no cut")

const (
	between = 50 * time.Millisecond // two tries to connect to a server that starts
	oneTry  = 5 * time.Second       // may take so long: a machine that is off answers nothing
)

// reachable waits until the server answers a query on the database, which a server does that has recovered it.
func (c *Coming) reachable(ctx context.Context, db *sql.DB) error {
	if c.plan.Recovery > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.plan.Recovery, fmt.Errorf("it did not come back within %s", c.plan.Recovery))
		defer cancel()
	}
	for {
		try, cancel := context.WithTimeout(ctx, oneTry)
		var customers int64
		err := db.QueryRowContext(try, "SELECT COUNT(*) FROM categories").Scan(&customers)
		cancel()
		if err == nil {
			return nil
		}
		if !pause(ctx, between) {
			return fmt.Errorf("wait for the server after it was cut off: %w", errors.Join(context.Cause(ctx), err))
		}
	}
}

// compare compares what has been acknowledged with what the server holds, while nobody is at work on it: what was
// acknowledged since the cut before the last and, where some of that was lost before the last, all of it.
func (c *Coming) compare(ctx context.Context, t Target, cut *result.Cut) error {
	end, err := c.Sync()
	if err != nil {
		return err
	}
	last, from := int64(0), int64(0) // where this cycle begins in the journal, and where the comparison does
	if n := len(c.ends); n > 0 {
		last = c.ends[n-1]
	}
	if n := len(c.ends); n > 1 {
		from = c.ends[n-2]
	}
	c.ends = append(c.ends, end)
	cycle, err := read(c.path, 0, last)
	if err != nil {
		return err
	}
	lost, untold, err := c.missing(ctx, t, from)
	if err == nil && from > 0 && len(lost) > len(among(cycle, lost)) {
		lost, untold, err = c.missing(ctx, t, 0)
	}
	if err != nil {
		return err
	}
	for _, e := range lost {
		c.lost[e] = true
	}
	doubtful, orders := of(doubtful, cycle), of(bought, lost)
	whole, _ := settle(doubtful, untold)
	cut.Acknowledged, cut.InDoubt, cut.Kept = int64(len(of(bought, cycle))), int64(len(doubtful)), int64(whole)
	cut.Lost, cut.LostOrders, cut.LostCustomers = int64(len(orders)), ranges(numbers(orders)), int64(len(of(registered, lost)))

	now, err := readSales(ctx, t.DB)
	if err != nil {
		return fmt.Errorf("read the stock of %s: %w", t.Label, err)
	}
	old := stale(c.before, c.takeSold(0), now)
	c.before = now
	cut.Stale, cut.StaleProducts = int64(len(old)), ranges(old)
	return nil
}

// missing gives what the journal says from a byte on and the server does not hold, apart from what was lost at earlier cuts,
// and the orders that nobody was told of.
func (c *Coming) missing(ctx context.Context, t Target, from int64) (lost, untold []entry, err error) {
	all, err := read(c.path, 0, from)
	if err != nil {
		return nil, nil, err
	}
	told := of(bought, all)
	above := c.mark.Order
	if from > 0 && len(told) > 0 {
		above = slices.MinFunc(told, func(a, b entry) int { return cmp.Compare(a.Order, b.Order) }).Order - 1
	}
	orders, err := compareOrders(ctx, t.DB, told, above)
	if err != nil {
		return nil, nil, fmt.Errorf("read the orders of %s: %w", t.Label, err)
	}
	customers, err := compareCustomers(ctx, t.DB, of(registered, all), c.mark.Customer)
	if err != nil {
		return nil, nil, fmt.Errorf("read the customers of %s: %w", t.Label, err)
	}
	for _, e := range append(orders.lost, customers...) {
		if !c.lost[e] {
			lost = append(lost, e)
		}
	}
	return lost, orders.untold, nil
}

// among are those of some entries that are among all.
func among(all, some []entry) (both []entry) {
	set := make(map[entry]bool, len(all))
	for _, e := range all {
		set[e] = true
	}
	for _, e := range some {
		if set[e] {
			both = append(both, e)
		}
	}
	return both
}

// deepCheck reads every page and has the server check it, while nobody is at work on it.
func deepCheck(ctx context.Context, t Target, cut *result.Cut) error {
	found, err := t.DeepCheck(ctx)
	if err != nil {
		return err
	}
	bad := int64(len(found.Damage))
	cut.BadPages = &bad
	cut.Damage = found.Damage[:min(len(found.Damage), maxNamed)]
	return nil
}

// Lost compares the journal with what the target holds above the marks before; see Check.
func (c *Coming) Lost(ctx context.Context, db *sql.DB, target string, before result.Marks) ([]result.Check, error) {
	return Check(ctx, db, []string{c.path}, 0, target, before)
}
