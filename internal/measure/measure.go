// Package measure turns what users did into figures: histograms of response times, one-second
// samples, windows with their confidence interval, and the verdict whether a window was steady. It
// knows neither Prometheus, nor files, nor a database. Operations, and a workload's own counts, are
// numbers here, with names that the caller gives.
//
// A user writes into its own Recorder. A Meter empties all of them once a second, so users share no
// lock and no cache line, and whoever reads figures never touches a user.
package measure

import (
	"sync"
	"time"
)

// WholeOrder is the name of the response times of whole orders, which stand behind those of the
// operations.
const WholeOrder = "order"

// Phase is a part of a run.
type Phase string

// The phases of a run, in order. Time is counted from the start of PhaseRamp, when the first orders
// start.
const (
	PhaseConnect Phase = "connect" // connections are opened; no orders yet
	PhaseRamp    Phase = "ramp"    // users start, at a rate
	PhaseWarmup  Phase = "warmup"  // all users at work, caches filling
	PhaseRun     Phase = "run"     // what is measured
	PhaseDrain   Phase = "drain"   // no new orders; those under way end
)

// Phases lists the phases in order.
var Phases = []Phase{PhaseConnect, PhaseRamp, PhaseWarmup, PhaseRun, PhaseDrain}

// UserState is what a user is doing.
type UserState uint8

// The states of a user.
const (
	UserWaiting      UserState = iota // for its start
	UserRunning                       // an order, or for one to be due
	UserThinking                      // between two orders
	UserRetrying                      // until it tries again what failed
	UserReconnecting                  // its connection was lost
	UserDone
	NumUserStates
)

// UserStates are the states' names in metrics.
var UserStates = [NumUserStates]string{
	"waiting",
	"running",
	"thinking",
	"retrying",
	"reconnecting",
	"done",
}

// Users is how many users are in each state.
type Users [NumUserStates]int

// AtWork is how many have started and not ended.
func (u Users) AtWork() int { return u[UserRunning] + u[UserThinking] + u.HeldUp() }

// HeldUp is how many can do no work because something failed.
func (u Users) HeldUp() int { return u[UserRetrying] + u[UserReconnecting] }

// droppedOrder is the name of the waits of orders that an open loop dropped, in an Interval.
const droppedOrder = "dropped"

// latency is one response time; series is the number of the operation, wholeOrder or dropped. Those
// of an order's operations stand before its own, or before gaveUp.
type latency struct {
	series int
	d      time.Duration

	// Of a whole order: when it was completed, since the first orders, and its response time in the
	// workload's own meaning.
	at, own time.Duration
}

const (
	wholeOrder = -1
	dropped    = -2
	gaveUp     = -3 // in the place of an order's
)

// Order is what a user gathers while it plays one order, and belongs to one goroutine.
// Recorder.Record takes it over into one that holds all of that user since the last sample.
type Order struct {
	Counts
	latencies []latency
	errors    []Failure
	retries   []Failure
}

// add appends what another order gathered: latencies stay in their order, which tells whose they
// are.
func (o *Order) add(more *Order) {
	o.Counts.Add(more.Counts)
	o.latencies = append(o.latencies, more.latencies...)
	o.errors = append(o.errors, more.errors...)
	o.retries = append(o.retries, more.retries...)
}

// reset empties the order and keeps its slices, so that a user at work allocates nothing.
func (o *Order) reset() {
	o.Counts = Counts{}
	o.latencies, o.errors, o.retries = o.latencies[:0], o.errors[:0], o.retries[:0]
}

// AddLatency notes the response time of one operation, its retries included.
func (o *Order) AddLatency(operation int, d time.Duration) {
	o.latencies = append(o.latencies, latency{series: operation, d: d})
}

// Complete notes the order as done at a time since the first orders. Its response time runs from
// when the user began it, or was due to, to its last row; own is the response time in the
// workload's own meaning, the sum of its operations without those outside it.
func (o *Order) Complete(at, d, own time.Duration) {
	o.Orders++
	o.latencies = append(o.latencies, latency{wholeOrder, d, at, own})
}

// GiveUp notes that the order is not completed.
func (o *Order) GiveUp() {
	o.GivenUp++
	o.latencies = append(o.latencies, latency{series: gaveUp})
}

// Waited notes that a dropped order would have waited at least so long before it was begun.
func (o *Order) Waited(d time.Duration) {
	o.latencies = append(o.latencies, latency{series: dropped, d: d})
}

// Fail notes an error of an operation, of which the order ends.
func (o *Order) Fail(f Failure) { o.errors = append(o.errors, f) }

// Retry notes that a failed operation is tried again.
func (o *Order) Retry(f Failure) {
	o.Retries++
	o.retries = append(o.retries, f)
}

// Recorder is where one user leaves its orders. Its lock is taken by that user once per order and
// by the Meter once a second, to swap two pointers.
type Recorder struct {
	mu   sync.Mutex
	full *Order
	_    [112]byte // keeps the next user's lock off this cache line and its neighbour
}

// Record takes over what o holds and empties it.
func (r *Recorder) Record(o *Order) {
	r.mu.Lock()
	r.full.add(o)
	r.mu.Unlock()
	o.reset()
}

// Report takes over failures, retries and reconnects alone, so that they show while their order
// goes on.
func (r *Recorder) Report(o *Order) {
	failed := Order{errors: o.errors, retries: o.retries}
	failed.Retries = o.Retries
	failed.Reconnects = o.Reconnects
	r.Record(&failed)
	o.errors, o.retries = o.errors[:0], o.retries[:0]
	o.Retries = 0
	o.Reconnects = 0
}

// swap gives what was recorded since the last swap and goes on with empty.
func (r *Recorder) swap(empty *Order) (full *Order) {
	r.mu.Lock()
	defer r.mu.Unlock()
	full = r.full
	r.full = empty
	return full
}
