package driver

import (
	"errors"
	"fmt"
	"time"

	"ds2/internal/store"
	"ds2/internal/workload"
)

var _ workload.Player = (*user)(nil)

// play plays one order. Its response time counts from due on.
func (u *user) play(due time.Time) {
	u.now, u.own = time.Now(), 0
	if err := u.Play(u); err != nil {
		u.giveUp(err)
	} else {
		u.tally.Complete(u.now.Sub(u.driver.start), u.now.Sub(due), u.own)
	}
	u.recorder.Record(&u.tally)
}

// Do carries out an operation and notes its response time, retries included.
func (u *user) Do(op workload.Op) error {
	if err := u.attempt(op); err != nil {
		return err
	}
	now := time.Now()
	d := now.Sub(u.now)
	u.now = now
	u.tally.AddLatency(int(op), d)
	if !u.driver.config.Operations[op].Outside {
		u.own += d
	}
	return nil
}

// giveUp counts an order that was begun and is not completed. Too many of them end the run, apart from those whose
// work is in doubt, which is no fault of the store's, and those that the end of the run cut off.
func (u *user) giveUp(err error) {
	u.tally.GiveUp()
	d := u.driver
	if errors.Is(err, errInDoubt) || d.stop.Err() != nil {
		return
	}
	d.log.Warn("give up "+d.config.Words.Cycle, "target", d.config.Targets[u.target], "err", err)
	if store.Classify(err) == store.Config {
		d.halt(err)
	} else if n := d.givenUp.Add(1); n > int64(d.config.MaxErrors) {
		d.halt(fmt.Errorf("give up after %d %s that could not be completed (max_errors is %d); the last: %w",
			n, d.config.Words.Cycles, d.config.MaxErrors, err))
	}
}
