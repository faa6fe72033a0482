// Package runs makes one run, from the first connection to its conclusion: it checks the databases,
// keeps the record, lets the users work, concludes and has the audit say whether the figures are of
// a whole database. Runs in a row are in package experiment; what is done to databases between them
// in upkeep. What the user typed and what is shown is the business of the command line.
package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"ds2/internal/background"
	"ds2/internal/driver"
	"ds2/internal/durability"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// Options are one run and its record.
type Options struct {
	result.Spec                  // what it says of databases and workload is filled in here
	Databases   []store.Database // in place of their labels
	Plan        workload.Plan    // what is run on them
	Events      []Event          // in any order
	// when the first orders start; zero: as soon as all users are connected
	StartAt time.Time

	Place Place
	Dir   string                           // of the record; must not exist or be empty
	Tell  func(format string, args ...any) // is told what a user is to know at once

	Observer *monitor.Observer // of machine and databases
	Device   *result.Device    // what the drives under test can do by themselves; nil: unknown
	Cluster  *result.Cluster   // where Kubernetes runs the server; nil: it runs none
}

// Asked is the run as its record begins with it: with what its plan says.
func (o Options) Asked() result.Spec {
	w := o.Plan.Workload()
	spec := o.Spec
	spec.Workload, spec.Words = w.Name(), w.Words()
	spec.Engine, spec.Size = o.Databases[0].Engine(), o.Plan.Size()
	spec.Targets = nil
	for _, target := range o.Databases {
		spec.Targets = append(spec.Targets, target.Label())
	}
	o.Plan.Describe(&spec)
	return spec
}

// Place is where a run stands among others.
type Place struct {
	Configuration string // of an experiment
	Block         int    // of an experiment in blocks; 0: none, or it is for practice
	Number        int    // among all, from 1
}

// Run is one run with its record.
type Run struct {
	options Options
	log     *slog.Logger
	play    workload.Run
	driver  *driver.Driver
	writer  *result.Writer
	summary result.Summary

	judge        limitJudge
	surroundings surroundings
	observation  *observation
	pace         *pace // nil: nothing is paced
	warm         *warm // nil: the run begins after the warm-up, whatever the state of the store
	scrubs       *background.Scrubs
	ioFaults     noticed             // failed I/Os that the servers noted
	doing        atomic.Value        // see Doing
	journal      *durability.Journal // nil: none is kept
	events       events
	watch        watch
	places       []*place                // that must not get full
	unmarked     error                   // why the marks after the run are not known
	stop         context.Context         // is over when no new orders begin; its cause says why
	halt         context.CancelCauseFunc // ends stop
}

// recorder is the run as the driver's sink: the record, and what is to happen as the run goes on.
type recorder struct{ *Run }

// Sample takes each second of the run from the driver's clock: one goroutine, so that what follows
// the samples needs no lock against itself. An error means that the record cannot be written.
func (r recorder) Sample(s measure.Sample) error {
	r.judge.samples = append(r.judge.samples, s)
	r.watch.sample(s, r.options.Tell)
	r.pace.sample(s, r.observation)
	r.warm.sample(s)
	if err := r.checkRoom(s); err != nil {
		r.halt(err)
	}
	return r.writer.Sample(s)
}

// Interval records an interval, with the times of its I/Os where they are traced, and judges the
// limits over it.
func (r recorder) Interval(iv measure.Interval) error {
	if ios := r.observation.ios; ios != nil {
		all, err := ios()
		if err != nil {
			return err
		}
		for _, d := range all {
			iv.AddIO(d)
		}
	}
	if err := r.writer.Interval(iv); err != nil {
		return err
	}
	if err := r.judge.judgeInterval(iv, r.observation); err != nil {
		r.halt(err)
	}
	return nil
}

// Begin creates the record and prepares the run.
func Begin(o Options) (*Run, error) {
	r := &Run{options: o, summary: result.Summary{Spec: o.Asked(), Happened: result.Happened{
		Status: result.Running, Start: time.Now(), Device: o.Device, Cluster: o.Cluster,
	}}}
	var err error
	r.writer, err = result.Create(o.Dir, r.summary, o.Plan.Workload().Counts()...)
	if err != nil {
		return nil, err
	}
	if err = r.makeParts(); err != nil {
		return nil, errors.Join(err, r.writer.Close())
	}
	return r, nil
}

// makeParts makes what goes on beside the users, and the driver of these.
func (r *Run) makeParts() (err error) {
	o := r.options
	r.log = slog.New(slog.NewTextHandler(r.writer.Log(), &slog.HandlerOptions{ReplaceAttr: inUTC}))
	r.stop, r.halt = context.WithCancelCause(context.Background())
	r.play = o.Plan.Begin(o.Dir)
	if target, paced := targetOf(o.Plan); paced {
		set := func(rate float64) { r.driver.SetRate(rate) }
		// The rate that makes the drives do a number of I/Os is found in the warm-up.
		r.pace = newPace(target, r.summary.WarmupTime.Duration, set)
	}
	// A checkpoint made before the first users counts: all that is dirty then is of this run.
	r.warm = newWarm(r.stop, o.WarmWithin.Duration, o.CheckpointFirst)
	for _, room := range o.Observer.Rooms() {
		r.places = append(r.places, &place{Room: room})
	}
	r.judge.run = r.summary.Spec
	if r.judge.limits, err = limit.ParseAll(o.LimitTexts); err != nil {
		return err
	}
	if r.scrubs, err = background.NewScrubs(o.Databases, o.ScrubRate, r.log); err != nil {
		return err
	}
	if o.Journal {
		if err = r.keepJournal(o.Plan.Workload()); err != nil {
			return err
		}
	}
	r.observation = newObservation(o, r.log, r.scrubs.Sources())
	c, err := r.configureDriver()
	r.driver = driver.New(c, recorder{r}, r.log)
	return err
}

// configureDriver says what the driver is to do, and whom it tells of it.
func (r *Run) configureDriver() (driver.Config, error) {
	o := r.options
	w := o.Plan.Workload()
	c := driver.Config{
		Spec: r.summary.Spec, Play: r.play, Operations: w.Operations(), Counts: w.Counts(),
		StartAt: o.StartAt, Interval: result.IntervalLength,
		Delayed: func(err error) { o.Tell("users wait to be connected: %v", err) },
		Lost:    func(err error) { r.watch.lost.Store(&err) },
		Started: r.startBeside,
		Began:   r.startEvents,
	}
	if d := o.AbortAfter.Duration; d > 0 {
		c.Interval = min(c.Interval, d) // short enough for a failure to be seen in time
	}
	if r.pace != nil {
		c.Rate = r.pace.record.First
		r.summary.Pace = &r.pace.record
	}
	if r.warm != nil {
		c.Warm = func() bool {
			return r.warm.state().Reached && (r.pace == nil || r.pace.record.Reached)
		}
	}
	for _, event := range o.Events {
		c.RunCuts = append(c.RunCuts, event.At)
	}
	windows, err := measure.ParseWindows(o.WindowTexts)
	for _, window := range windows {
		switch {
		case window.OfRun:
			c.RunCuts = append(c.RunCuts, window.From, window.To)
		case window.Known():
			c.Cuts = append(c.Cuts, window.From, window.To)
		}
	}
	return c, err
}

// startBeside begins, with the first orders, what goes on beside them.
func (r *Run) startBeside(at time.Time) {
	r.summary.Start = at
	r.scrubs.Start()
	r.observation.begin(r.options, at)
	if r.warm != nil {
		go r.warm.watch(r.observation, r.options.Databases)
	}
}

// Sampler is where the newest counters of machine and databases are.
func (r *Run) Sampler() *sampling.Sampler { return r.observation.sampler }

// Options are those that the run was made with.
func (r *Run) Options() Options { return r.options }

// Meter is where the run's figures are while it goes on.
func (r *Run) Meter() *measure.Meter { return r.driver.Meter() }

// Execute runs, and ends the record whatever happens. No new orders begin when stop is over, which
// is over with ctx at the latest; all work ends with ctx.
func (r *Run) Execute(ctx, stop context.Context) (result.Summary, Outcome) {
	s := &r.summary
	outcome := Ended(r.prepare(ctx, stop))
	ioFaults := r.watchFaults(ctx)
	if outcome.Err == nil {
		outcome = r.withIdleAndCooldown(ctx, stop).withErrors(r.play.End())
	}
	if r.journal != nil {
		outcome = outcome.withErrors(r.journal.Close())
	}
	// A run that was stopped early is asked too what it left behind, unless ctx is over. It does
	// not wait for a server that is down.
	if outcome.Status != result.Done {
		stop = r.stop
		r.halt(nil)
	}
	// Marks are the highest keys and sums of the tables: what lies above them the run added.
	s.After, r.unmarked = r.readMarks(ctx, stop, true)
	if r.unmarked == nil {
		r.surroundings.after = readSurrounding(ctx, r.options.Databases)
	}
	if outcome.Status == result.Done {
		outcome = outcome.withErrors(r.unmarked)
	}
	r.ioFaults = ioFaults(ctx)
	outcome = r.conclude(outcome.withErrors(r.writer.End()))
	return *s, outcome.withErrors(r.writer.Close())
}

// prepare does what comes before the first user.
func (r *Run) prepare(ctx, stop context.Context) (err error) {
	s := &r.summary
	if s.Before, err = r.readMarks(ctx, stop, false); err != nil {
		return err
	}
	// A journal is of use only with these, also where ds2 is killed.
	if err := result.SaveSummary(r.options.Dir, *s); err != nil {
		return err
	}
	if err := r.checkpoint(stop); err != nil {
		return err
	}
	if err := r.play.Ready(ctx); err != nil {
		return err
	}
	// After the checkpoint and before the first user: what follows is the run's own doing.
	r.surroundings.before = readSurrounding(ctx, r.options.Databases)
	r.noteRun(ctx)
	return nil
}

// inUTC has the times of a log in the time zone of the report.
func inUTC(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindTime {
		a.Value = slog.TimeValue(a.Value.Time().UTC())
	}
	return a
}

// withIdleAndCooldown lets the run happen between an idle time and a cooldown, in which nothing is
// done but to read the counters.
func (r *Run) withIdleAndCooldown(ctx, stop context.Context) Outcome {
	// Drives are asked before the users and after them, since an answer may hold up I/O.
	compareSMART := r.options.Observer.BeginSMART(ctx)
	r.noteNoUsers("idle", r.options.Idle.Duration)
	if !r.observation.samplePause(stop, r.options.Idle.Duration) {
		return Ended(cmp.Or(context.Cause(ctx), driver.ErrStopped))
	}
	r.doing.Store("")
	outcome := r.runUsers(ctx, stop)
	if outcome.Err == nil {
		r.noteNoUsers("cool down", r.options.Cooldown.Duration)
		progress.Pause(stop, r.options.Cooldown.Duration)
		r.doing.Store("")
	}
	r.summary.SMART = compareSMART(ctx)
	return outcome.withErrors(r.observation.end())
}

// noteNoUsers notes that for a time only counters and power are read.
func (r *Run) noteNoUsers(phase string, d time.Duration) {
	r.doing.Store(fmt.Sprintf("%s until %s: counters and power only", phase,
		time.Now().Add(d).Format(time.TimeOnly)))
}

// Doing is what the run is at while it has no users; empty: nothing that takes long.
func (r *Run) Doing() string {
	doing, _ := r.doing.Load().(string)
	return doing
}

// Checkpointer is an engine that can have a server write all changed pages, so that a run begins
// with nothing left to write of what came before.
type Checkpointer interface {
	Checkpoint(ctx context.Context) error

	// MayCheckpoint is an error where the server or the user's rights do not allow it. Nothing is
	// changed.
	MayCheckpoint(ctx context.Context) error
}

// CacheDropper is an engine that can empty the cache of the whole server, but for pages that
// changed: a checkpoint comes first.
type CacheDropper interface {
	DropCache(ctx context.Context) error

	// MayDropCache is an error where the server or the user's rights do not allow it. Nothing is
	// changed.
	MayDropCache(ctx context.Context) error
}

// checkpoint has the targets write what is left of the time before the run.
func (r *Run) checkpoint(stop context.Context) error {
	if !r.options.CheckpointFirst && !r.options.ColdStart {
		return nil
	}
	// Pages that a load or an earlier run changed would be written in this run, as if it were its
	// work.
	for _, target := range r.options.Databases {
		if engine, ok := target.(Checkpointer); ok {
			start := time.Now()
			err := engine.Checkpoint(stop)
			if stop.Err() != nil {
				return driver.ErrStopped
			}
			if err != nil {
				return err
			}
			took := time.Since(start).Round(time.Millisecond)
			r.log.Info("made a checkpoint before the run", "target", target.Label(), "time", took)
		}
		if r.options.ColdStart { // of engines alone that can
			if err := target.(CacheDropper).DropCache(stop); err != nil {
				return err
			}
			r.log.Info("emptied the server's cache before the run", "target", target.Label())
		}
	}
	return nil
}

// runUsers has the users work, from the first orders to the end of the drain.
func (r *Run) runUsers(ctx, stop context.Context) Outcome {
	defer context.AfterFunc(stop, func() { r.halt(driver.ErrStopped) })()
	inTime, kill := context.WithCancel(ctx)
	r.events.ctx = ctx
	r.events.inTime = inTime
	err := r.driver.Run(ctx, r.stop)
	r.scrubs.Close()
	// A limit or no room, whatever the driver says of its last orders.
	cause := context.Cause(r.stop)
	r.halt(nil)
	time.AfterFunc(grace, kill)
	r.events.Wait()
	if aborts(cause) {
		return Ended(cause)
	}
	return Ended(err)
}

// readMarks are those of every target, before the run or after it. After stop it does not wait for
// a server that is down.
func (r *Run) readMarks(ctx, stop context.Context, after bool) (all []result.Marks, err error) {
	end := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	defer r.doing.Store("")
	var down error // why it waits, which says more than that it waited for a minute
	for len(all) < len(r.options.Databases) {
		target := r.options.Databases[len(all)]
		m, err := r.options.Plan.Workload().Mark(ctx, target, after)
		switch {
		case err == nil:
			all = append(all, m)
			continue
		case ctx.Err() != nil:
			return nil, cmp.Or(down, err)
		case store.Classify(err) != store.Connection:
			return nil, err
		}
		down = err
		// A server that went down at the end of the run may still be on its way up.
		r.doing.Store(fmt.Sprintf("the server does not answer; waiting for it until %s (%v)",
			end.Format(time.TimeOnly), rootCause(err)))
		if !progress.Pause(stop, time.Second) {
			return nil, err
		}
	}
	return all, nil
}

func rootCause(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}
