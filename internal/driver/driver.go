// Package driver runs the users of a benchmark: it connects them, starts them at the ramp's rate,
// warms up, runs and drains, and tells package measure what happened. What a user does and how an
// operation is carried out is the business of its workload, and what the figures mean that of
// package measure. An order is a cycle of the workload, whatever it consists of.
//
// Every user is one goroutine with one connection. On the way of an order users share neither locks
// nor cache lines: each has its own draws, its own recorder and its own context, and the goroutine
// that keeps the time looks at them once a second.
package driver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/workload"
)

// Config is one run.
type Config struct {
	result.Spec
	Operations []workload.Operation // of Play
	Counts     []string             // names of the workload's counts
	Play       workload.Run         // what the users do

	StartAt time.Time       // when the first orders start; zero: as soon as all users are connected
	Started func(time.Time) // is told when they do
	Began   func(time.Time) // is told when the run phase begins
	Warm    func() bool     // whether the run may begin after the warm-up; nil: it may
	// is called with each error of class Connection, at once, by several users
	Lost    func(error)
	Delayed func(error) // is called once with the first error of connecting a user

	Interval time.Duration // length of the intervals that histograms are kept of
	// where an interval ends besides, since the first orders: the bounds of windows
	Cuts    []time.Duration
	RunCuts []time.Duration // and since the begin of the run phase

	backlog time.Duration // of a test; 0: the one of ds2
}

// Sink takes what a run measures, as it goes. An error of it ends the run.
type Sink interface {
	Sample(measure.Sample) error
	Interval(measure.Interval) error
}

// ErrStopped is what a run ends with that was stopped before its time.
var ErrStopped = errors.New("stopped before the end of the run")

// Driver is one run.
type Driver struct {
	config Config
	sink   Sink
	log    *slog.Logger
	meter  *measure.Meter
	users  []*user

	start   time.Time       // when the first orders started
	ctx     context.Context // of all operations
	stop    context.Context // ends when no new orders are to begin; its cause says why
	halt    context.CancelCauseFunc
	ran     bool // the run phase began
	givenUp atomic.Int64
	rate    atomic.Uint64 // of an open loop, for each target: the bits of a float64
	delayed sync.Once

	examples sync.Map // of each measure.Failure: its first error
}

// New prepares a run.
func New(c Config, sink Sink, log *slog.Logger) *Driver {
	d := &Driver{config: c, sink: sink, log: log}
	d.meter = measure.NewMeter(workload.Names(c.Operations), c.Targets, c.Counts...)
	for i := range c.Threads * len(c.Targets) {
		d.users = append(d.users, newUser(d, i))
	}
	return d
}

// Meter is where the run's figures are, while it goes on and after.
func (d *Driver) Meter() *measure.Meter { return d.meter }

// errDone is the cause of a stop at the end of the run.
var errDone = errors.New("run done")

// Run runs to the end, once. When stop is over, no new orders begin and those under way end; when
// ctx is, the run ends at once. The error is ErrStopped where stop came before the end of a run
// that has one, or else why the run failed.
func (d *Driver) Run(ctx, stop context.Context) error {
	var leave context.CancelCauseFunc
	d.ctx, leave = context.WithCancelCause(ctx)
	defer leave(nil)
	d.stop, d.halt = context.WithCancelCause(d.ctx)
	defer context.AfterFunc(stop, func() { d.halt(ErrStopped) })()
	defer d.disconnectUsers()
	d.connectUsers()
	// Several drivers begin together where they were given a time.
	if !progress.Pause(d.stop, time.Until(d.config.StartAt)) {
		return context.Cause(d.stop)
	}

	d.start = time.Now()
	d.config.Started(d.start)
	var users sync.WaitGroup
	due := d.offerArrivals(&users)
	for i, u := range d.users {
		delay := time.Duration(float64(i) / d.config.RampRate * float64(time.Second))
		users.Go(func() { u.playOrders(delay, due[u.target]) })
	}
	// All users have ended when done is over, also those that the drain cut off.
	done, end := context.WithCancel(context.Background())
	go func() {
		users.Wait()
		end()
	}()
	err := d.keepTime(leave, done)
	switch cause := context.Cause(d.stop); {
	case err != nil:
		return err
	case errors.Is(cause, errDone),
		errors.Is(cause, ErrStopped) && d.ran && d.config.RunTime.Duration == 0:
		return nil
	default:
		return cause
	}
}

// connecting is how many connections are opened at a time.
const connecting = 16

// connectTime is how long not one user more may be connected until the run ends: a pooler with too
// few connections to its server would have the rest wait for ever.
const connectTime = time.Minute

// watchConnecting ends the run where connecting comes to a stand, until stop.
func (d *Driver) watchConnecting(connected *atomic.Int64) (stop func()) {
	last := int64(0)
	return progress.Watch(d.stop, connectTime, func(context.Context) bool {
		n := connected.Load()
		if n > last {
			last = n
			return true
		}
		d.halt(fmt.Errorf("%d of %d users connected, and no other within %s: does the server, or a pooler in front of it, allow that many connections?",
			n, len(d.users), connectTime))
		return false
	})
}

// connectUsers opens every user's connection; the first that cannot be opened ends the run.
func (d *Driver) connectUsers() {
	d.log.Info("connect", "users", len(d.users))
	connected := new(atomic.Int64)
	defer d.watchConnecting(connected)()
	var all errgroup.Group
	all.SetLimit(connecting)
	for i, u := range d.users {
		all.Go(func() error {
			err := u.attemptOperation(opConnect)
			u.recorder.Record(&u.tally)
			if err != nil {
				d.halt(fmt.Errorf("connect user %d of %d: %w", i+1, len(d.users), err))
			}
			connected.Add(1)
			return nil
		})
	}
	_ = all.Wait() // the run has the error
}

// noteFailure keeps and logs the first error of each failure.
func (d *Driver) noteFailure(f measure.Failure, err error) {
	if _, known := d.examples.Load(f); known { // most are: make no text of each error
		return
	}
	if _, known := d.examples.LoadOrStore(f, err.Error()); !known {
		d.log.Warn("attempt failed", "operation", f.Operation, "class", f.Class, "err", err)
	}
}

// Example is the first error of a failure; empty where there was none.
func (d *Driver) Example(f measure.Failure) string {
	first, _ := d.examples.Load(f)
	example, _ := first.(string)
	return example
}

// disconnectUsers closes every connection. It waits no longer than a server needs that is there.
func (d *Driver) disconnectUsers() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), 5*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for _, u := range d.users {
		if u.connected {
			wg.Go(func() { _ = u.Close(ctx) }) // the run is over: ignore the error of closing it
		}
	}
	wg.Wait()
}
