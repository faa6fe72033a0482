package driver

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"ds2/internal/measure"
	"ds2/internal/store"
	"ds2/internal/workload/ds2"
)

// user is one virtual customer with its connection. It belongs to its goroutine, apart from the last fields.
type user struct {
	driver   *Driver
	target   int
	session  store.Session   // nil while there is no connection
	opened   bool            // there was one at some time
	ctx      context.Context // of the session's operations; abort ends it
	draw     *ds2.User
	jitter   *rand.Rand // of the waits before retries
	recorder *measure.Recorder
	tally    measure.Order // what happened since the last Record

	// The order being played.
	order    *ds2.Order
	browse   *ds2.Browse // the search under way
	customer int64       // who orders
	purchase store.Purchase
	bought   int64         // the id of the order that the purchase made
	now      time.Time     // when the last operation ended
	ds2      time.Duration // response time in DS2's meaning so far

	// Looked at once a second by the goroutine that keeps the time.
	state atomic.Uint32 // measure.UserState
	began atomic.Int64  // when the operation under way began, in nanoseconds since 1970; 0: none
	mu    sync.Mutex    // guards abort
	abort context.CancelFunc
}

// newUser makes the user of a number; users are spread over the targets in turn.
func newUser(d *Driver, number int) *user {
	c := d.config
	id := uint64(c.UserOffset + number)
	target := number % len(c.Targets)
	return &user{
		driver:   d,
		target:   target,
		draw:     ds2.NewUser(c.Workload, c.Seed, id),
		jitter:   rand.New(rand.NewPCG(c.Seed, ^id)),
		recorder: d.meter.NewRecorder(target),
	}
}

// run plays orders from delay after the start until the run stops: as soon as the last is done and thought over, or, in
// an open loop, as they fall due.
func (u *user) run(delay time.Duration, due <-chan time.Time) {
	defer u.become(measure.UserDone)
	stop := u.driver.stop
	if !sleep(stop, delay) {
		return
	}
	u.become(measure.UserRunning)
	for stop.Err() == nil {
		began := time.Now()
		if due != nil {
			var ok bool
			if began, ok = <-due; !ok {
				return
			}
			if stop.Err() != nil {
				u.tally.Dropped++
				u.recorder.Record(&u.tally)
				return
			}
		}
		u.play(began)
		if think := u.draw.Think(u.driver.config.Think); think > 0 {
			u.become(measure.UserThinking)
			sleep(stop, think)
			u.become(measure.UserRunning)
		}
	}
}

func (u *user) become(s measure.UserState) { u.state.Store(uint32(s)) }

// Operations besides those of the store.
const opConnect = store.NumOps

func opName(op store.Op) string {
	if op == opConnect {
		return "connect"
	}
	return op.String()
}

// connect opens the user's first connection.
func (u *user) connect() error {
	err := u.attempt(opConnect)
	u.recorder.Record(&u.tally)
	return err
}

func (u *user) disconnect(ctx context.Context) {
	if u.session != nil {
		_ = u.session.Close(ctx) // there is nothing left to do for who cannot say goodbye
		u.session = nil
	}
}
