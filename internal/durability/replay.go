package durability

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
)

// Replay is a replay test: the server is cut off when so much log stands since its last checkpoint, and its own log
// says how long it took to redo that.
type Replay struct {
	Bytes int64
	File  string        // of the server's log, on this machine; empty: the server is asked for it
	Tell  progress.Tell // is told how much log has been written since the last checkpoint; may be nil
}

// lookEvery is how often a server is asked how much log stands.
const lookEvery = 100 * time.Millisecond

// poolTries is how often a query is tried again whose connection was one to the server that was.
const poolTries = 5

// restoreTime bounds the setting back of a server that may not answer.
const restoreTime = 30 * time.Second

// Check is an error where the test cannot be made on the target. It changes nothing.
func (r *Replay) Check(ctx context.Context, target store.Database) error {
	replayer := target.Can().Replay
	if replayer == nil {
		return store.Cannot(target, "replay tests")
	}
	return replayer.CheckReplay(ctx, r.Bytes, r.File)
}

// PrepareReplay has the target of a replay test, which Check found fit, let its log grow. restore sets back what that
// changed, whatever became of the run.
func (c *CutSchedule) PrepareReplay(
	ctx context.Context, target store.Database, run string, log *slog.Logger,
) (restore func(context.Context) error, err error) {
	restore = func(context.Context) error { return nil }
	if c == nil || c.plan.Replay == nil {
		return restore, nil
	}
	c.changed, err = store.PrepareReplay(ctx, target, run, c.plan.Replay.Bytes, c.plan.Replay.File)
	if err != nil {
		return restore, err
	}
	log.Info("prepared the server for a replay test", "changed", c.changed)
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
		defer cancel()
		for {
			_, err := store.RestoreSettings(ctx, target, "")
			if err == nil || store.Classify(err) != store.Connection {
				return err
			}
			if len(c.changed) == 0 || !progress.Pause(ctx, between) {
				return fmt.Errorf("still changed, until the next ds2 works on the database and sets it back: %s: %w",
					strings.Join(c.changed, ", "), err)
			}
		}
	}, nil
}

// awaitLog waits until enough log stands; false where the orders are over before.
func (c *CutSchedule) awaitLog(orders context.Context, r *Replay, target store.Replayer) (bool, error) {
	for {
		stood, err := target.LogSinceCheckpoint(orders)
		switch {
		case orders.Err() != nil:
			return false, nil
		case err != nil:
			return false, err
		}
		if r.Tell != nil {
			r.Tell("write log", min(stood.Bytes, r.Bytes), r.Bytes)
		}
		if c.stood = stood; stood.Bytes >= r.Bytes {
			return true, nil
		}
		if !progress.Pause(orders, lookEvery) {
			return false, nil
		}
	}
}

// measured reads how long the recovery took.
func (c *CutSchedule) measured(ctx context.Context, t Target, cut result.Cut) error {
	r, target := c.plan.Replay, t.Can().Replay
	redo, err := target.Redo(ctx, c.stood, r.File)
	for try := 0; try < poolTries && store.Classify(err) == store.Connection; try++ {
		redo, err = target.Redo(ctx, c.stood, r.File)
	}
	if err != nil {
		return err
	}
	if redo.Bytes <= 0 {
		return errors.New("the server redid nothing")
	}
	c.replay = &result.Replay{
		Wanted: r.Bytes, Stood: c.stood.Bytes, Redo: redo, Recovery: cut.Recovery, Changed: c.changed,
		MBPerSecond:   store.MBPerSecond(redo.Bytes, redo.Seconds),
		SecondsPerMiB: redo.Seconds / (float64(redo.Bytes) / (1 << 20)),
	}
	return nil
}
