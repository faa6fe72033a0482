package driver

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"ds2/internal/measure"
	"ds2/internal/progress"
)

const never = time.Duration(math.MaxInt64)

// keepTime goes through the phases from the ramp on and closes the samples, until done is over: all
// users have ended. It calls leave on the cycles that do not end in the time of the drain.
func (d *Driver) keepTime(leave context.CancelCauseFunc, done context.Context) error {
	c := clock{d: d, cuts: slices.Clone(d.config.Cuts), interval: d.config.Interval}
	slices.Sort(c.cuts)

	ramp := d.config.Ramp()
	warmup := ramp + d.config.WarmupTime.Duration
	phase := func(p measure.Phase, end time.Duration) {
		if end <= c.now || d.stop.Err() != nil {
			return
		}
		d.enterPhase(p)
		c.waitUntil(end, d.stop)
	}
	phase(measure.PhaseRamp, ramp)
	phase(measure.PhaseWarmup, warmup)
	if d.config.Warm != nil && !d.config.Warm() {
		c.early = d.config.Warm
		phase(measure.PhaseWarmup, warmup+d.config.WarmWithin.Duration)
		c.early = nil
		warmup = max(warmup, c.now)
	}
	run := warmup + d.config.RunTime.Duration
	if d.config.RunTime.Duration == 0 {
		run = never
	}
	for _, cut := range d.config.RunCuts {
		c.cuts = append(c.cuts, warmup+cut)
	}
	slices.Sort(c.cuts)
	if d.stop.Err() == nil {
		d.config.Began(d.start.Add(warmup))
	}
	phase(measure.PhaseRun, run)
	d.halt(errDone)
	d.enterPhase(measure.PhaseDrain)
	if c.waitUntil(c.now+d.config.DrainTime.Duration, done) {
		leave(errors.New("orders in flight at the end of the run did not end in time"))
		c.waitUntil(never, done)
	}
	return c.err
}

// enterPhase begins a phase: what is measured from now on is counted to it.
func (d *Driver) enterPhase(p measure.Phase) {
	d.ran = d.ran || p == measure.PhaseRun
	d.log.Info("enter phase", "phase", p, "t", time.Since(d.start).Round(time.Millisecond))
	d.meter.Enter(p)
}

// clock closes a sample every second and wherever a phase or a window begins or ends.
type clock struct {
	d        *Driver
	now      time.Duration   // of the last sample, since the first orders
	cuts     []time.Duration // still to come
	interval time.Duration   // when the interval ends
	early    func() bool     // ends until before its time; nil: nothing does
	err      error           // of the sink
}

// waitUntil keeps time until end, or early, or until working is over: then it is false.
func (c *clock) waitUntil(end time.Duration, working context.Context) bool {
	for {
		next := min(c.now.Truncate(time.Second)+time.Second, end)
		if len(c.cuts) > 0 {
			next = min(next, c.cuts[0])
		}
		interrupted := !progress.Pause(working, time.Until(c.d.start.Add(next)))
		// The record has milliseconds, and what is shown is what is recorded.
		c.now = max(c.now+time.Millisecond, time.Since(c.d.start).Round(time.Millisecond))
		over := c.now >= end || c.early != nil && c.early()
		c.closeSample(interrupted || over)
		if interrupted || over {
			return !interrupted
		}
		c.d.abortStalled()
	}
}

// closeSample closes a sample, and the interval where it is time or a phase is over.
func (c *clock) closeSample(phaseOver bool) {
	users := make([]measure.Users, len(c.d.config.Targets))
	for _, u := range c.d.users {
		users[u.target][u.state.Load()]++
	}
	s := c.d.meter.Sample(c.now, users)
	cut := phaseOver || c.now >= c.interval
	for len(c.cuts) > 0 && c.cuts[0] <= c.now {
		c.cuts = c.cuts[1:]
		cut = true
	}
	if c.err != nil {
		return
	}
	c.err = c.d.sink.Sample(s)
	if cut && c.err == nil {
		c.interval = c.now.Truncate(c.d.config.Interval) + c.d.config.Interval
		c.err = c.d.sink.Interval(c.d.meter.Interval(c.now))
	}
	if c.err != nil {
		c.d.halt(c.err)
	}
}

// origin is what the begin of operations counts from, by the clock that nobody sets and that stands
// still while a virtual machine does.
var origin = time.Now()

// abortStalled cuts off the connections on which an operation takes longer than it may.
func (d *Driver) abortStalled() {
	latest := int64(time.Since(origin) - d.config.OperationTimeout.Duration)
	for _, u := range d.users {
		if began := u.began.Load(); began != 0 && began < latest {
			u.mu.Lock()
			u.abort()
			u.mu.Unlock()
		}
	}
}
