package runs

import (
	"context"
	"errors"
	"fmt"

	"ds2/internal/driver"
	"ds2/internal/durability"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/upkeep"
)

// errCut ends a run whose server could not be cut off, or did not come back.
var errCut = errors.New("cut off the server")

// crashes cuts the server off as often as is asked for. The run ends with the last of several cuts, and with one that
// fails.
func (r *Run) crashes(ctx context.Context) error {
	target, plan := r.options.Targets[0], r.options.Crash
	t := durability.Target{DB: target.DB(), Users: r.driver, Log: r.log, Label: target.Label(), DeepCheck: func(ctx context.Context) (store.DeepCheck, error) {
		checks, err := upkeep.DeepCheck(ctx, r.options.Targets[:1], store.DeepReading{}, progress.Ignore)
		if err != nil {
			return store.DeepCheck{}, err
		}
		return checks[0], nil
	}}
	t.Checkpoint, t.Replay = target.Can().Checkpoint, target.Can().Replay
	err := r.crash.Happen(ctx, r.stop, t)
	r.replayed()
	cuts := r.crash.Done()
	if r.crash.Compared() {
		r.summary.Cuts = durability.Conclude(*plan, cuts)
	}
	if plan.Cycles == 0 && len(cuts) > 0 {
		r.summary.Crash = &result.Crash{At: cuts[0].At, Down: cuts[0].Down}
	}
	switch {
	case errors.Is(err, durability.ErrEnded):
	case err != nil:
		err = fmt.Errorf("%w: %w", errCut, err)
		r.halt(err)
	case plan.Cycles > 0:
		r.halt(driver.ErrStopped)
	}
	return err
}

// prepareReplay prepares the target for a replay test, where the run is one; restore sets back what that changed.
func (r *Run) prepareReplay(ctx context.Context) (restore func(context.Context) error, err error) {
	if r.options.Crash == nil || r.options.Crash.Replay == nil {
		return func(context.Context) error { return nil }, nil
	}
	r.changed, restore, err = r.options.Crash.Replay.Prepare(ctx, r.options.Targets[0], r.options.RunID)
	if err == nil {
		r.log.Info("prepared the server for a replay test", "changed", r.changed)
	}
	return restore, err
}

// replayed takes what the replay test measured into the summary.
func (r *Run) replayed() {
	if r.summary.Replay = r.crash.Replay(); r.summary.Replay != nil {
		r.summary.Replay.Changed = r.changed
	}
}
