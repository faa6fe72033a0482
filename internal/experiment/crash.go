package experiment

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"ds2/internal/durability"
	"ds2/internal/result"
	"ds2/internal/store"
)

// Crash is a crash of the one target's server in mid-run. The audit then also looks for acknowledged purchases that the
// server lost.
type Crash struct {
	After  time.Duration // since the first orders
	Server durability.Server
}

// crashing is a crash that is to come.
type crashing struct {
	Crash
	journal *durability.Journal
	due     chan struct{} // closed when the time has come
	over    chan struct{} // closed when the run is over
	set     bool          // due is closed
}

func (r *Run) journalPath() string { return filepath.Join(r.options.Dir, durability.File) }

// at sets off the crash when its time has come.
func (c *crashing) at(t time.Duration) {
	if c != nil && !c.set && t >= c.After {
		c.set = true
		close(c.due)
	}
}

// happen waits for the crash to be due, and brings it about.
func (c *crashing) happen(ctx context.Context, target store.Store, log *slog.Logger) (*result.Crash, error) {
	select {
	case <-c.due:
		happened, err := durability.Now(ctx, c.Server, target.DB(), log)
		return &happened, err
	case <-c.over:
		return nil, fmt.Errorf("the run ended before the crash that was to come after %s", c.After)
	}
}

// lost compares the journal with what the target holds.
func (r *Run) lost(ctx context.Context) ([]result.Check, error) {
	target, counts := r.options.Targets[0], r.summary.ByTarget[0].Counts
	return durability.Check(ctx, target.DB(), r.journalPath(), 0, target.Label(), r.summary.Before[0].Order, counts.InDoubtPurchases)
}
