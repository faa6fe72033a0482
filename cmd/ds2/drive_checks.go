package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/runs"
)

// validRunID keeps out of records, metrics, tables and terminals what means something to them.
var validRunID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// check refuses flags that make no run, or that nothing can be observed or served by, and are not
// checked when they are parsed, and draws what was not given.
func (f *runFlags) check() error {
	switch {
	case f.RunID != "" && !validRunID.MatchString(f.RunID):
		return usageError("--run-id: %q must be at most 64 letters, digits, dots, underscores and hyphens, and begin with a letter or digit",
			f.RunID)
	case len(f.WindowTexts) > 100:
		return usageError("--window: %d windows are too many: at most 100", len(f.WindowTexts))
	}
	f.KitVersion = kitVersion()
	f.Seed = cmp.Or(f.Seed, newSeed())
	f.RunID = cmp.Or(f.RunID, newRunID())
	return cmp.Or(f.observe.check(), f.output.metricsFlags.check())
}

// parseWindows reads --window. What is measured lies in the run phase, which begins when ramp and
// warm-up are over; a run of no length has no end.
func (f *runFlags) parseWindows(run result.Spec) (err error) {
	if f.windows, err = measure.ParseWindows(f.WindowTexts); err != nil {
		return flagError("window", err)
	}
	warm := run.Ramp() + run.WarmupTime.Duration
	for i, w := range f.windows {
		begin := warm
		if w.OfRun {
			begin = 0
		}
		length := run.RunTime.Duration
		switch {
		case w.Known() && w.From < begin:
			return usageError("--window: %s begins before the run phase does, at %s, after ramp and warm-up; with run+ before it, it counts from there",
				w.Name, begin)
		case length > 0 && w.To > begin+length:
			return usageError("--window: %s ends at %s, and the run phase at %s (ramp, warm-up and run time)", w.Name, w.To, begin+length)
		case f.flags.Changed("warm-within") && f.WarmWithin.Duration > 0 && w.Known() && !w.OfRun:
			return usageError("--warm-within: the window %s does not wait for it; use run+1000s-1200s, auto or checkpoints=2", w.Name)
		}
		if slices.ContainsFunc(f.windows[:i], func(other measure.WindowSpec) bool {
			return other.Name == w.Name
		}) {
			return usageError("--window: there are two windows named %s", w.Name)
		}
	}
	f.WindowTexts = mapped(f.windows, measure.WindowSpec.String)
	return nil
}

// parseLimits reads --limit, and writes the limits as records have them: sets become their limits.
// A run of six hours or more is a stress test to Jetstress, whose sets then allow more.
func (f *runFlags) parseLimits() (err error) {
	if f.limits, err = limit.ForRun(
		f.LimitTexts,
		f.RunTime.Duration,
		limitOperations()...); err != nil {
		return flagError("limit", err)
	}
	f.LimitTexts = mapped(f.limits, limit.Limit.String)
	return nil
}

// aroundEvents is how much of the run phase is to lie before and after an event, so that it can be
// said what came of it.
const aroundEvents = 10 * time.Second

// parseEvents reads --event. An event needs time on both sides of it: its cost is the rate after
// against the rate before.
func (f *runFlags) parseEvents(run result.Spec) (all []runs.Event, err error) {
	// Flags are judged again when a run begins, which must not add the events a second time.
	f.EventTexts = nil
	for _, text := range f.events {
		at, command, _ := strings.Cut(text, "=")
		after, err := time.ParseDuration(at)
		end := run.RunTime.Duration
		switch {
		case err != nil || strings.TrimSpace(command) == "":
			const example = "5m='dmsetup suspend data'"
			return nil, usageError("--event: invalid event %q: write it as %s", redact(text),
				example)
		case end > 0 && end < 2*aroundEvents:
			return nil, usageError("--event: a run phase of %s is too short: an event needs %s of it before and %[2]s after, to say what came of it",
				end, aroundEvents)
		case after < aroundEvents:
			return nil, usageError("--event: %s is too early: the first possible time is %s into the run phase, to compare with the rate before",
				at, aroundEvents)
		case end > 0 && after > end-aroundEvents:
			return nil, usageError("--event: %s is too late: the last possible time is %s, %s before the end of the run, to see what the event does",
				at, end-aroundEvents, aroundEvents)
		}
		all = append(all, runs.Event{At: after, Command: command, Shown: redact(command)})
		f.EventTexts = append(f.EventTexts, fmt.Sprintf("%s=%s", after, redact(command)))
	}
	return all, nil
}

// judge refuses flags that make no run, before anything is connected to, and gives what of the run
// takes no database to be read.
func (f *runFlags) judge() (o runs.Options, err error) {
	if err := f.check(); err != nil {
		return o, err
	}
	if f.startAt != "" {
		o.StartAt, err = time.Parse(time.RFC3339, f.startAt)
		switch {
		case err != nil:
			return o, usageError("--start-at: invalid time %q: write it as 2026-11-21T04:15:00Z",
				f.startAt)
		case o.StartAt.Before(time.Now()):
			return o, usageError("--start-at: %s has passed", f.startAt)
		}
	}
	if f.Disclosure, err = result.ParseDisclosure(f.disclosure); err != nil {
		return o, flagError("disclosure", err)
	}
	// What is observed decides which figures a run has, so its record tells: without passwords,
	// which commands and URLs may hold.
	f.ObservedDevices = f.observe.Devices
	f.Exporters = mapped(f.observe.Exporters, redact)
	f.PowerCommand = withoutPasswords(f.observe.PowerCommand)
	f.DeviceRecord = f.observe.deviceRecord
	f.IOTrace = f.observe.IOTrace
	f.ServerMemory = f.observe.ServerMemory
	// Which workload the databases hold is known only when they are asked, so the flags of all are
	// judged.
	for _, t := range tenants() {
		if err := t.judge(f); err != nil {
			return o, err
		}
	}
	if err := f.parseLimits(); err != nil {
		return o, err
	}
	// Latencies of I/Os by their purpose, such as a log flush, have no other source than the trace.
	for _, l := range f.limits {
		if l.Traced() && !f.observe.IOTrace {
			return o, usageError("--limit: %s is known only where I/Os are timed; add --io-trace",
				l)
		}
	}
	switch {
	case f.AbortAfter.Duration > 0 && len(f.limits) == 0:
		return o, usageError("--abort-on-fail needs --limit")
	case f.AbortAfter.Duration > 0 && f.AbortAfter.Duration < time.Second:
		return o, usageError("--abort-on-fail is %s: it must be at least 1s", f.AbortAfter)
	}
	// From here on the length counts: the ramp takes longer with more targets.
	run := f.Spec
	if run.Targets, err = f.urls(); err != nil { // for the length of the ramp
		return o, err
	}
	if err := f.parseWindows(run); err != nil {
		return o, err
	}
	if o.Events, err = f.parseEvents(run); err != nil {
		return o, err
	}
	o.Spec = f.Spec
	o.Dir = recordDir(f.out, f.RunID)
	return o, nil
}
