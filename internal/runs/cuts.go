package runs

import (
	"context"
	"errors"
	"fmt"

	"ds2/internal/driver"
	"ds2/internal/durability"
	"ds2/internal/workload"
)

// errCut ends a run whose server could not be cut off, or did not come back.
var errCut = errors.New("cut off the server")

// keepJournal begins the journal of what the targets acknowledge.
func (r *Run) keepJournal() (err error) {
	w := r.options.Plan.Workload()
	acknowledger, ok := w.(workload.Acknowledger)
	keeper, keeps := r.play.(workload.Keeper)
	if !ok || !keeps {
		return fmt.Errorf("keep a journal: runs of workload %s have none", w.Name())
	}
	if r.crash, err = r.options.Crash.Begin(r.options.Dir, acknowledger); err == nil {
		keeper.Keep(r.crash)
	}
	return err
}

// crashes cuts the server off as often as is asked for. The run ends with the last of several cuts, and with one that
// fails.
func (r *Run) crashes(ctx context.Context) error {
	target := durability.Target{Database: r.options.Targets[0], Users: r.driver, Log: r.log}
	err := r.crash.Happen(ctx, r.stop, target, &r.summary.Happened)
	switch {
	case errors.Is(err, durability.ErrEnded):
	case err != nil:
		err = fmt.Errorf("%w: %w", errCut, err)
		r.halt(err)
	case r.options.Crash.Cycles > 0:
		r.halt(driver.ErrStopped)
	}
	return err
}
