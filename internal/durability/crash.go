package durability

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"ds2/internal/result"
)

// Crash is a crash of a target's server in mid-run.
type Crash struct {
	After  time.Duration // since the first orders
	Server Server
}

// Coming is a crash that is to come in a run, with the journal of what the server has acknowledged. A nil one never comes.
type Coming struct {
	*Journal
	crash Crash
	path  string        // of the journal
	due   chan struct{} // closed when the time has come
	over  chan struct{} // closed when the run is over
	set   bool          // due is closed
}

// Begin begins the journal in the directory of the run's record.
func (c Crash) Begin(dir string) (*Coming, error) {
	path := filepath.Join(dir, File)
	journal, err := Create(path)
	if err != nil {
		return nil, err
	}
	return &Coming{Journal: journal, crash: c, path: path, due: make(chan struct{}), over: make(chan struct{})}, nil
}

// At sets off the crash when its time has come: t after the first orders.
func (c *Coming) At(t time.Duration) {
	if c != nil && !c.set && t >= c.crash.After {
		c.set = true
		close(c.due)
	}
}

// Over says that the run is over.
func (c *Coming) Over() { close(c.over) }

// Happen waits for the crash to be due, and brings it about. A run that is over before is an error.
func (c *Coming) Happen(ctx context.Context, db *sql.DB, log *slog.Logger) (*result.Crash, error) {
	select {
	case <-c.due:
		happened, err := Now(ctx, c.crash.Server, db, log)
		return &happened, err
	case <-c.over:
		return nil, fmt.Errorf("the run ended before the crash that was to come after %s", c.crash.After)
	}
}

// Lost compares the journal with what the target holds above the mark before; see Check.
func (c *Coming) Lost(ctx context.Context, db *sql.DB, target string, before, inDoubt int64) ([]result.Check, error) {
	return Check(ctx, db, c.path, 0, target, before, inDoubt)
}
