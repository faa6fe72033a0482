package runs

import "context"

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
