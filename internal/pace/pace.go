// Package pace estimates how long a job still takes. The job says beforehand how much work of which kinds there is, and
// while it runs what it is at and how much of that is done; the speed of each kind is learned from the job itself. The
// package knows nothing of what the work is.
package pace

import (
	"sync"
	"time"
)

// Kind is a kind of work: its units take about the same time each.
type Kind struct {
	Name string
	// Prior is the seconds that a unit takes on some machine. What counts is how the priors of a job's kinds relate: a kind
	// of which nothing is done yet is expected to be as much slower or faster than its prior as the others were.
	Prior float64
}

// priorWeight is the share of a kind's units from which on its own speed counts more than what the others make of its prior.
const priorWeight = 0.02

// Estimate is how far a job is. It is at one piece of work at a time. All methods may be called from several goroutines.
type Estimate struct {
	mu    sync.Mutex
	kinds []*amount
	piece *amount   // kind of what the job is at; nil: nothing
	units float64   // of the piece
	did   float64   // of these
	began time.Time // the piece
}

// amount is the work of one kind.
type amount struct {
	Kind
	total, done float64
	took        float64 // seconds, of pieces that have ended
}

// Plan adds units of a kind to what is to be done.
func (e *Estimate) Plan(kind Kind, units float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.of(kind).total += units
}

// Skip takes units of a kind back: they need not be done.
func (e *Estimate) Skip(kind Kind, units float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.of(kind)
	k.total -= units
	if k == e.piece {
		e.units -= units
	}
}

// Begin says that the job is at so many units of a kind from now on, and that the piece before is done.
func (e *Estimate) Begin(kind Kind, units float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end()
	e.piece, e.units, e.did, e.began = e.of(kind), units, 0, time.Now()
}

// End says that the piece is done.
func (e *Estimate) End() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end()
}

func (e *Estimate) end() {
	if e.piece != nil {
		e.piece.done += e.units
		e.piece.took += time.Since(e.began).Seconds()
		e.piece = nil
	}
}

// Did says that so many more units of the piece are done. Of a piece of which nobody says how far it is, the time counts alone.
func (e *Estimate) Did(units float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.did = min(e.did+units, e.units)
}

// Left is the share of all work that is done, in time, and the time that the rest takes; negative where nobody knows yet.
func (e *Estimate) Left() (share float64, left time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	elapsed := 0.0 // of the piece
	if e.piece != nil {
		elapsed = time.Since(e.began).Seconds()
	}
	measured := func(k *amount) (done, took float64) {
		if k == e.piece && e.did > 0 {
			return k.done + e.did, k.took + elapsed
		}
		return k.done, k.took
	}
	var all, expected float64 // of what is done: by the clock, and by the priors
	for _, k := range e.kinds {
		if done, took := measured(k); done > 0 {
			all += took
			expected += done * k.Prior
		}
	}
	if all == 0 || expected == 0 {
		return 0, -1
	}
	past, rest := elapsed, 0.0
	for _, k := range e.kinds {
		past += k.took
		done, took := measured(k)
		if k.total <= done {
			continue
		}
		weight := priorWeight * k.total
		rate := (took + weight*k.Prior*all/expected) / (done + weight)
		if k == e.piece && e.did == 0 && e.units > 0 {
			rate = max(rate, elapsed/e.units)
			rest += e.units*rate - elapsed
			done += e.units
		}
		rest += max(k.total-done, 0) * rate
	}
	return past / (past + rest), time.Duration(rest * float64(time.Second))
}

func (e *Estimate) of(kind Kind) *amount {
	for _, k := range e.kinds {
		if k.Name == kind.Name {
			return k
		}
	}
	k := &amount{Kind: kind}
	e.kinds = append(e.kinds, k)
	return k
}
