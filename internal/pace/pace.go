// Package pace estimates how long a job still takes. The job says beforehand how much work of which kinds there is, and
// while it runs what it is at and how much of that is done; the speed of each kind is learned from the job itself. The
// package knows nothing of what the work is.
package pace

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Kind is a kind of work: its units take about the same time each.
type Kind struct {
	Name string
	// Prior is the seconds that a unit takes on some machine. What counts is how the priors of a job's kinds relate: a kind
	// of which nothing is done yet is expected to be as much slower or faster than its prior as the others were.
	Prior float64
	// Known says that the prior is what a unit took on this machine before, all in all: it counts as it is, and until an eighth of a
	// piece is done more than its speed, since the piece may have begun slowly then too.
	Known bool
	// Even says that one unit is like another: how fast the last ones were done says more than all of them together.
	Even bool
}

// priorWeight is the share of a kind's units from which on its own speed counts more than what the others make of its prior.
const priorWeight = 0.02

// apart is the power for kinds that may wait for different things. Where all are 0.35 to 4.2 times as slow as their priors, what is not
// measured yet is within 30 % with it; and a drive that takes three times as long makes what waits for processors 2.3 times as long.
const apart = 0.75

// Estimate is how far a job is. It is at one piece of work at a time, which may consist of several tasks at once. All methods may be
// called from several goroutines.
type Estimate struct {
	// Seconds says that the priors are seconds of this machine, or one like it: they count as they are until something is measured.
	Seconds bool
	// Apart says that kinds may wait for different things, such as drives and processors, and needs Seconds: another kind of which nothing
	// is done yet is then expected to be less far off its prior than those that were measured.
	Apart bool

	mu    sync.Mutex
	kinds []*amount
	piece *amount   // kind of what the job is at; nil: nothing
	units float64   // of the piece
	did   float64   // of these
	began time.Time // the piece
	other float64   // seconds, of pieces of no units
	marks [2]mark   // the last two sixteenths of the piece

	tasks  []*Task // of the piece that are running
	lanes  int     // the most that were running at once
	worked float64 // seconds, each task's own, of those that have ended
}

// amount is the work of one kind.
type amount struct {
	Kind
	total, done float64
	took        float64 // seconds, of pieces that have ended
}

// mark is how much of a piece was done when.
type mark struct {
	did float64
	at  time.Time
}

// Task is a part of a piece. Of one that says nothing before its end it is assumed that it is as fast as others.
type Task struct {
	e       *Estimate
	units   float64
	reached float64   // of these
	at      time.Time // when it said so
	began   time.Time
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
	e.marks = [2]mark{{0, e.began}, {0, e.began}}
	e.tasks, e.lanes, e.worked = nil, 0, 0
}

// End says that the piece is done.
func (e *Estimate) End() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end()
}

func (e *Estimate) end() {
	if e.piece != nil {
		if e.units > 0 { // else it says nothing of how fast its kind is
			e.piece.done += e.units
			e.piece.took += time.Since(e.began).Seconds()
		} else {
			e.other += time.Since(e.began).Seconds()
		}
		e.piece, e.tasks, e.lanes = nil, nil, 0
	}
}

// Did says that so many more units of the piece are done. Of a piece of which nobody says how far it is, the time counts alone.
func (e *Estimate) Did(units float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.did = min(e.did+units, e.units)
	if e.did-e.marks[1].did >= e.units/16 {
		e.marks = [2]mark{e.marks[1], {e.did, time.Now()}}
	}
}

// unitSeconds is what a unit of the piece takes, as the last ones did.
func (e *Estimate) unitSeconds() float64 {
	return time.Since(e.marks[0].at).Seconds() / (e.did - e.marks[0].did)
}

// Start says that a task of so many units of the piece begins.
func (e *Estimate) Start(units float64) *Task {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := &Task{e: e, units: units, began: time.Now()}
	e.tasks = append(e.tasks, t)
	e.lanes = max(e.lanes, len(e.tasks))
	return t
}

// Reach says that a share of the task is done, 0 to 1.
func (t *Task) Reach(share float64) {
	t.e.mu.Lock()
	defer t.e.mu.Unlock()
	if reached := min(share, 1) * t.units; reached > t.reached {
		t.reached, t.at = reached, time.Now()
	}
}

// End says that the task is done.
func (t *Task) End() {
	e := t.e
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.Index(e.tasks, t)
	if i < 0 {
		return // its piece has ended
	}
	e.tasks = slices.Delete(e.tasks, i, i+1)
	e.did = min(e.did+t.units, e.units)
	e.worked += time.Since(t.began).Seconds()
}

// Left is the share of all work that is done, in time, and the time that the rest takes; negative where nobody knows yet.
func (e *Estimate) Left() (share float64, left time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	elapsed := 0.0 // of the piece
	if e.piece != nil {
		elapsed = time.Since(e.began).Seconds()
	}
	var all, expected float64 // of what is done: by the clock, and by the priors
	for _, k := range e.kinds {
		if done, took := e.measured(k, elapsed); done > 0 {
			all += took
			expected += done * k.Prior
		}
	}
	if all == 0 || expected == 0 {
		if !e.Seconds {
			return 0, -1
		}
		all, expected = 1, 1
	}
	slower := all / expected
	if e.Apart {
		slower = math.Pow(slower, apart)
	}
	past, rest := e.other+elapsed, 0.0
	for _, k := range e.kinds {
		past += k.took
		done, took := e.measured(k, elapsed)
		if k.total <= done {
			continue
		}
		weight := priorWeight * k.total
		rate := (took + weight*k.Prior*slower) / (done + weight)
		if k.Known {
			rate = k.Prior
		}
		switch {
		case k.Known && k == e.piece && e.marks[0].did == 0:
			rest += max(e.units*k.Prior-elapsed, 0)
			done += e.units - e.did
		case k.Even && k == e.piece && e.did > weight:
			rest += (e.units - e.did) * e.unitSeconds()
			done += e.units - e.did
		case k == e.piece && len(e.tasks) > 0:
			units, longest := e.running(rate * float64(e.lanes))
			done += units
			alone := longest*float64(e.lanes) - (e.units - e.did - units) // of what the longest task takes, when the others have ended
			rest += max(alone, 0) * rate
		case k == e.piece && e.did == 0 && e.units > 0:
			rate = max(rate, elapsed/e.units)
			rest += e.units*rate - elapsed
			done += e.units
		}
		rest += max(k.total-done, 0) * rate
	}
	return past / (past + rest), time.Duration(rest * float64(time.Second))
}

// measured are the units of a kind that are done, and the seconds that they took. Of what tasks have done, nothing is known before
// they end.
func (e *Estimate) measured(k *amount, elapsed float64) (done, took float64) {
	switch {
	case k != e.piece || e.did == 0:
		return k.done, k.took
	case e.lanes > 0:
		return k.done + e.did, k.took + e.worked/float64(e.lanes)
	}
	return k.done + e.did, k.took + elapsed
}

// running are the units that running tasks have done, as can be expected at so many seconds a unit, and those that the one has left that
// has most. What a task says counts half: a server may count by steps of which each takes another time.
func (e *Estimate) running(unit float64) (units, longest float64) {
	const most = 0.9 // of a task that has not ended
	for _, t := range e.tasks {
		done := min(time.Since(t.began).Seconds()/unit, most*t.units)
		if t.reached > most*t.units {
			done = t.reached
		} else if t.reached > 0 {
			done = (done + min(t.reached+time.Since(t.at).Seconds()/unit, most*t.units)) / 2
		}
		units += done
		longest = max(longest, t.units-done)
	}
	return units, longest
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
