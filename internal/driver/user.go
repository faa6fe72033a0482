package driver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// user is one virtual user with its connection, and the workload.Player of its orders. It belongs
// to its goroutine, apart from the last fields.
type user struct {
	workload.User
	driver    *Driver
	target    int
	connected bool            // there is a connection
	opened    bool            // there was one at some time
	ctx       context.Context // of the operations on the connection; abort ends it
	jitter    *rand.Rand      // of the waits before retries
	recorder  *measure.Recorder
	tally     measure.Order // what happened since the last Record

	// The order being played.
	now time.Time     // when the last operation ended
	own time.Duration // response time in the workload's own meaning so far

	// Looked at once a second by the goroutine that keeps the time.
	state atomic.Uint32 // measure.UserState
	began atomic.Int64  // when the operation under way began, in nanoseconds since origin; 0: none
	mu    sync.Mutex    // guards abort
	abort context.CancelFunc
}

// newUser makes the user of a number; users are spread over the targets in turn.
func newUser(d *Driver, number int) *user {
	c := d.config
	id := c.UserOffset + number
	target := number % len(c.Targets)
	u := &user{
		driver:   d,
		target:   target,
		jitter:   rand.New(rand.NewPCG(c.Seed, ^uint64(id))),
		recorder: d.meter.NewRecorder(target),
	}
	u.User = c.Play.NewUser(workload.Seat{
		Number: id,
		Target: target,
		Index:  number / len(c.Targets),
		Of:     c.Threads,
		Seed:   c.Seed,
		Tally:  &u.tally,
	})
	return u
}

// playOrders plays orders from delay after the start until the run stops: as soon as the last is
// done and thought over, or, in an open loop, as they fall due.
func (u *user) playOrders(delay time.Duration, due <-chan arrival) {
	defer u.setState(measure.UserDone)
	stop := u.driver.stop
	if !progress.Pause(stop, delay) {
		return
	}
	u.setState(measure.UserRunning)
	for stop.Err() == nil {
		began := time.Now()
		if due != nil {
			next, ok := <-due
			if !ok {
				return
			}
			began = next.at
			next.noteWait(&u.tally)
		}
		u.playOrder(began)
		if think := u.Think(u.driver.config.ThinkTime.Duration); think > 0 {
			u.setState(measure.UserThinking)
			progress.Pause(stop, think)
			u.setState(measure.UserRunning)
		}
	}
}

// playOrder plays one order. Its response time counts from due on.
func (u *user) playOrder(due time.Time) {
	u.now = time.Now()
	u.own = 0
	if err := u.Play(u); err != nil {
		u.giveUp(err)
	} else {
		u.tally.Complete(u.now.Sub(u.driver.start), u.now.Sub(due), u.own)
	}
	u.recorder.Record(&u.tally)
}

// Do carries out an operation and notes its response time, retries included.
func (u *user) Do(op workload.Op) error {
	if err := u.attemptOperation(op); err != nil {
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

// giveUp counts an order that was begun and is not completed. Too many of them end the run, apart
// from those whose work is in doubt, which is no fault of the store's, and those that the end of
// the run cut off.
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
		d.halt(fmt.Errorf(
			"give up after %d %s that could not be completed (max_errors is %d); the last: %w",
			n, d.config.Words.Cycles, d.config.MaxErrors, err))
	}
}

// setState says what the user is doing, for the samples: the goroutine that keeps the time counts
// the users of each state once a second.
func (u *user) setState(s measure.UserState) { u.state.Store(uint32(s)) }

// opConnect is what connecting is as an operation.
const opConnect workload.Op = math.MaxUint8

// opName is an operation's name in figures.
func (d *Driver) opName(op workload.Op) string {
	if op == opConnect {
		return "connect"
	}
	return d.config.Operations[op].Name
}
