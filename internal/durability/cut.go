package durability

import (
	"context"
	"database/sql"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Target is what is cut off.
type Target struct {
	DB    *sql.DB
	Users Users
	Log   *slog.Logger
	Label string

	Checkpoint func(context.Context) error                    // nil: the server has none
	DeepCheck  func(context.Context) (store.DeepCheck, error) // reads and checks every page
	Replay     store.Replayer                                 // of a replay test
}

// Happen waits for each cut to be due and brings it about. orders is over when no new ones begin; cuts that were to
// come then are an error. A server that was cut off is started again whatever happens, unless ctx is over.
func (c *CutSchedule) Happen(ctx, orders context.Context, t Target) error {
	ended := func() error { return fmt.Errorf("%w: %s, and %d came", ErrEnded, c.plan, len(c.Done())) }
	select {
	case <-c.due:
	case <-orders.Done():
		return ended()
	}
	defer t.Users.Release()
	if c.plan.Cycles == 0 {
		cut, err := c.cut(ctx, t)
		if err == nil && c.Compared() {
			cut.When = atSetTime
			err = c.compare(ctx, &cut)
		}
		if err == nil {
			c.add(cut)
		}
		return err
	}
	for i, m := range c.plan.moments() {
		if due, err := c.await(orders, t, &m); err != nil {
			return err
		} else if !due {
			return ended()
		}
		cut, err := c.cut(ctx, t)
		cut.When = m.kind
		if err == nil && c.plan.Replay != nil {
			err = c.measured(ctx, c.plan.Replay, t.Replay, cut)
		}
		if err == nil {
			err = c.compare(ctx, &cut)
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
	progress.Pause(orders, c.plan.After/2) // orders go on after the last, too
	return nil
}

// ErrEnded says that a run ended before all cuts had come.
var ErrEnded = errors.New("the run ended before the server was cut off as often as planned")

// cut kills the server, starts it again and waits until it takes connections. With cycles the users are held from
// before the kill until Release, and so they are where what was lost is looked for.
func (c *CutSchedule) cut(ctx context.Context, t Target) (cut result.Cut, err error) {
	// What is not on this machine's disk does not count as acknowledged, should this machine be cut off too.
	if _, err := c.Sync(); err != nil {
		return cut, err
	}
	held := c.plan.Cycles > 0 || c.Compared()
	if held {
		t.Users.Hold()
	}
	t.Log.Warn("kill the server")
	cut.At = time.Now()
	if err := c.plan.Server.Kill(ctx); err != nil {
		return cut, fmt.Errorf("%w: %w", errKill, err)
	}
	if held {
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

// compare compares what has been acknowledged with what the server holds, while nobody is at work on it.
func (c *CutSchedule) compare(ctx context.Context, cut *result.Cut) error {
	end, err := c.Sync()
	if err != nil {
		return err
	}
	return c.books.After(ctx, func(from int64) ([]byte, error) { return Read(c.path, c.workload, from) }, end, cut)
}

// maxNamed bounds how many damaged pages are named: a database that lost everything is not to fill the record.
const maxNamed = 1000

// errKill says that the server was not cut off. One that could not be started again was, and what it holds nobody
// knows.
var errKill = errors.New("no cut")

const (
	between = 50 * time.Millisecond // two tries to connect to a server that starts
	oneTry  = 5 * time.Second       // may take so long: a machine that is off answers nothing
)

// reachable waits until the server answers a query on the database, which a server does that has recovered it.
func (c *CutSchedule) reachable(ctx context.Context, db *sql.DB) error {
	if c.plan.Recovery > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.plan.Recovery, fmt.Errorf("it did not come back within %s", c.plan.Recovery))
		defer cancel()
	}
	for {
		try, cancel := context.WithTimeout(ctx, oneTry)
		var notes int64
		err := db.QueryRowContext(try, "SELECT COUNT(*) FROM ds2_info").Scan(&notes)
		cancel()
		if err == nil {
			return nil
		}
		if !progress.Pause(ctx, between) {
			return fmt.Errorf("wait for the server after it was cut off: %w", errors.Join(context.Cause(ctx), err))
		}
	}
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
