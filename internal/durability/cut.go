package durability

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
)

// Target is what is cut off.
type Target struct {
	store.Database
	Users Users
	Log   *slog.Logger
}

// ErrEnded says that a run ended before all cuts had come.
var ErrEnded = errors.New("the run ended before the server was cut off as often as planned")

func (c *CutSchedule) ended() error {
	return fmt.Errorf("%w: %s, and %d came", ErrEnded, c.plan, len(c.cuts))
}

// Happen waits for each cut to be due, brings it about, and notes in h what came of all. orders is over when no new
// ones begin; cuts that were to come then are an error. A server that was cut off is started again whatever happens,
// unless ctx is over.
func (c *CutSchedule) Happen(ctx, orders context.Context, t Target, h *result.Happened) error {
	defer c.note(h)
	select {
	case <-c.due.Done():
	case <-orders.Done():
		return c.ended()
	}
	defer t.Users.Release()
	if c.plan.Cycles == 0 {
		return c.once(ctx, t)
	}
	for i, m := range c.plan.moments() {
		if due, err := c.await(orders, t, &m); err != nil {
			return err
		} else if !due {
			return c.ended()
		}
		cut, err := c.cycle(ctx, t, i+1)
		cut.When = m.kind
		if errors.Is(err, errKill) {
			return fmt.Errorf("cut %d of %d: %w", i+1, c.plan.Cycles, err)
		}
		if ctx.Err() != nil { // nobody knows
			return errors.Join(err, c.ended())
		}
		if err != nil {
			cut.Error = err.Error()
		}
		c.cuts = append(c.cuts, cut)
		t.Log.Info("cut", "number", i+1, "of", c.plan.Cycles, "when", cut.When, "acknowledged", cut.Acknowledged,
			"in_doubt", cut.InDoubt, "lost", cut.Lost, "stale", cut.Stale, "recovery_s", cut.Recovery)
		t.Users.Release()
		if err != nil {
			return fmt.Errorf("cut %d of %d: %w", i+1, c.plan.Cycles, err)
		}
	}
	progress.Pause(orders, c.plan.After/2) // orders go on after the last, too
	return nil
}

// note takes what came of the cuts into the record.
func (c *CutSchedule) note(h *result.Happened) {
	if h.Replay = c.replay; c.books != nil {
		h.Cuts = c.plan.Conclude(c.cuts)
	}
	if c.plan.Cycles == 0 && len(c.cuts) > 0 {
		h.Crash = &result.Crash{At: c.cuts[0].At, Down: c.cuts[0].Down}
	}
}

// once brings about the cut of a run that goes on.
func (c *CutSchedule) once(ctx context.Context, t Target) error {
	cut, err := c.cut(ctx, t)
	if err == nil && c.books != nil {
		cut.When = atSetTime
		err = c.compare(ctx, &cut)
	}
	if err == nil {
		c.cuts = append(c.cuts, cut)
	}
	return err
}

// cycle brings about a cut of several, by number, and looks at what it left.
func (c *CutSchedule) cycle(ctx context.Context, t Target, number int) (result.Cut, error) {
	cut, err := c.cut(ctx, t)
	if err == nil && c.plan.Replay != nil {
		err = c.measured(ctx, t, cut)
	}
	if err == nil {
		err = c.compare(ctx, &cut)
	}
	if err == nil && c.plan.DeepEvery > 0 && number%c.plan.DeepEvery == 0 {
		err = deepCheck(ctx, t, &cut)
	}
	return cut, err
}

// cut kills the server, starts it again and waits until it takes connections. With cycles the users are held from
// before the kill until Release, and so they are where what was lost is looked for.
func (c *CutSchedule) cut(ctx context.Context, t Target) (cut result.Cut, err error) {
	// What is not on this machine's disk does not count as acknowledged, should this machine be cut off too.
	if _, err := c.Sync(); err != nil {
		return cut, err
	}
	held := c.plan.Cycles > 0 || c.books != nil
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
	if err := c.reachable(ctx, t.DB()); err != nil {
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
		late := fmt.Errorf("it did not come back within %s", c.plan.Recovery)
		ctx, cancel = context.WithTimeoutCause(ctx, c.plan.Recovery, late)
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

// DeepCheck reads every page of a database and has the server check it.
func DeepCheck(
	ctx context.Context, target store.Database, how store.DeepReading, tell progress.Tell,
) (found store.DeepCheck, err error) {
	check := target.Can().DeepCheck
	if check == nil {
		return found, store.Cannot(target, "deep checks")
	}
	if found, err = check(ctx, how, tell); err != nil {
		return found, target.Wrap("deep check "+target.Label(), err)
	}
	found.Target = target.Label()
	return found, nil
}

// deepCheck makes the deep check after a cut, while nobody is at work on the database.
func deepCheck(ctx context.Context, t Target, cut *result.Cut) error {
	found, err := DeepCheck(ctx, t.Database, store.DeepReading{}, progress.Ignore)
	if err != nil {
		return err
	}
	cut.BadPages = new(int64(len(found.Damage)))
	cut.Damage = found.Damage[:min(len(found.Damage), maxNamed)]
	return nil
}
