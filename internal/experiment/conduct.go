package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"ds2/internal/conclude"
	"ds2/internal/driver"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/tune"
)

// Conduct is how a run is shown and what follows it.
type Conduct struct {
	Audit bool // ask the databases whether they hold what the run did
	Deep  bool // before that read every page and have the server check it

	// Locked is done when the lock of a database was lost, with the reason as its cause: the run under way ends, and counts for nothing.
	Locked context.Context

	// Restart restarts the targets' server before the deep check, so that pages are read from the drive; nil: it goes on.
	Restart func(context.Context) error

	// Show shows a run while it goes on; end is called with its summary when it has ended.
	Show     func(*Run) (end func(result.Summary), err error)
	Progress progress.View // shows the deep check and the audit
	// Tell is told what is damaged and which checks failed.
	Tell func(format string, args ...any)
}

// Stop is the two stages in which work ends: nothing new begins when Soft is done, and all work ends with Hard.
type Stop struct{ Soft, Hard context.Context }

// Drive makes a run, shown while it goes on. There is none where it could not even begin.
func (c Conduct) Drive(stop Stop, o Options) (*Run, result.Summary, Outcome) {
	run, err := Begin(o)
	if err != nil {
		return nil, result.Summary{}, ended(err)
	}
	end, err := c.Show(run)
	if err != nil {
		return nil, result.Summary{}, ended(err)
	}
	watched := context.AfterFunc(c.Locked, func() { run.halt(context.Cause(c.Locked)) })
	summary, outcome := run.Drive(stop.Hard, stop.Soft.Done())
	watched()
	if lost := c.lost(run); lost != nil {
		summary, outcome = run.summary, ended(lost)
	}
	end(summary)
	return run, summary, outcome
}

// lost marks the run as failed whose database's lock was lost: another ds2 may have changed what it measured.
func (c Conduct) lost(run *Run) error {
	lost := context.Cause(c.Locked)
	if lost == nil {
		return nil
	}
	run.summary.Status, run.summary.Error = result.Failed, lost.Error()
	return errors.Join(lost, result.SaveSummary(run.options.Dir, run.summary))
}

// Verify reads the databases of a run to the last page and audits them, as far as that is asked for, adds what it finds to
// the record, and gives in a few words what is wrong.
func (c Conduct) Verify(stop Stop, run *Run) (faults []string, err error) {
	defer func() {
		if lost := c.lost(run); lost != nil {
			faults, err = nil, lost
		}
	}()
	if cuts := run.summary.Cuts; cuts != nil && cuts.Lossy > 0 {
		faults = append(faults, fmt.Sprintf("after %d of %d cuts of the server acknowledged work was missing, old or damaged", cuts.Lossy, len(cuts.Cuts)))
	}
	if c.Deep {
		damaged, err := c.deep(stop.Soft, run)
		if err != nil {
			return nil, err
		}
		if damaged {
			faults = append(faults, "the database is damaged")
		}
	}
	if !c.Audit {
		return faults, nil
	}
	switch passed, err := c.audit(stop.Soft, run); {
	case err != nil && stop.Soft.Err() != nil:
		return nil, err
	case err != nil:
		faults = append(faults, fmt.Sprintf("not audited: %v", err))
	case !passed:
		faults = append(faults, "the audit failed: the database does not hold what the run says it did")
	}
	return faults, nil
}

// deep reads every page of the run's databases and tells what is damaged.
func (c Conduct) deep(ctx context.Context, run *Run) (damaged bool, err error) {
	if c.Restart != nil {
		if err := c.Restart(ctx); err != nil {
			return false, err
		}
		for _, target := range run.options.Targets {
			target.DB().SetMaxIdleConns(0) // those are connections to the server that was
		}
	}
	tell, stop := c.Progress("verify", progress.Work)
	checks, err := DeepCheck(ctx, run.options.Targets, store.DeepReading{}, tell)
	stop()
	if err != nil {
		return false, err
	}
	for _, s := range checks {
		for _, d := range s.Damage {
			c.Tell("damaged: %s: %s", strings.TrimSpace(d.Object+" "+d.Place), d.Found)
			damaged = true
		}
	}
	run.summary.DeepChecks = checks
	return damaged, result.SaveSummary(run.options.Dir, run.summary)
}

// audit audits what the run left behind and tells each check that did not pass.
func (c Conduct) audit(ctx context.Context, run *Run) (passed bool, err error) {
	tell, stop := c.Progress("verify", progress.Bytes)
	audit, err := run.Audit(ctx, tell)
	stop()
	for _, check := range audit.Checks {
		if !check.Passed {
			c.Tell("audit of %s failed: %s: expected %s, found %s", check.Target, check.Name, check.Expected, check.Found)
		}
	}
	return audit.Passed, err
}

// BenchRun is how the runs of a bench are made, for Bench.Run: those of the options, each with a seed of its own.
func (c Conduct) BenchRun(stop Stop, options Options) func(ctx context.Context, dir string, number int) (result.Summary, []string, error) {
	return func(_ context.Context, dir string, number int) (result.Summary, []string, error) {
		o := options
		o.Dir = dir
		o.RunID = fmt.Sprintf("%s-%d", options.RunID, number)
		o.Driver.Seed += uint64(number - 1)
		run, summary, outcome := c.Drive(stop, o)
		if !outcome.counts() {
			return summary, nil, outcome.Err
		}
		var faults []string
		if outcome.Status == result.Aborted { // its window is not that of the others
			faults = append(faults, outcome.Err.Error())
		}
		faults = append(faults, conclude.Throttled(summary.SMART)...)
		more, err := c.Verify(stop, run)
		if err != nil && stop.Soft.Err() != nil && c.Locked.Err() == nil { // what was measured is kept
			return summary, append(faults, "its audit was interrupted"), driver.ErrStopped
		}
		return summary, append(faults, more...), err
	}
}

// Search is a search for the best number of users.
type Search struct {
	Conduct
	Dir     string // of the search's record and its runs
	Options Options
	Config  tune.Config
	Restore Restore
	// Trial is told each trial, about how many more there will be, and how long one takes.
	Trial func(number int, t result.Trial, left int, each time.Duration)
	// Left is a search that ended before it was done, which is continued: its trials are not made again.
	Left *result.Search
}

// Continue makes s go on where a search with the same setup ended; the error names what differs.
func (s *Search) Continue(left result.Search) error {
	now := s.begin()
	var names []string
	for name, differs := range map[string]bool{
		"engine": left.Engine != now.Engine, "targets": !slices.Equal(left.Targets, now.Targets), "size": left.Size != now.Size, "restore": left.Restore != now.Restore,
		"limits": !slices.Equal(left.Limits, now.Limits), "method, start-threads, max-threads or gain": left.Config != now.Config,
		"seed": left.Seed != now.Seed, "parameters": !reflect.DeepEqual(left.Parameters, now.Parameters),
	} {
		if differs {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		return errors.New(strings.Join(names, ", "))
	}
	s.Left = &left
	return nil
}

// begin is the record of the search before its first trial.
func (s Search) begin() result.Search {
	o := s.Options
	summary := Summarize(o)
	r := result.Search{
		KitVersion: o.Version, RunID: o.RunID, Status: result.Running, Start: time.Now(), Seed: summary.Seed, Parameters: summary.Parameters,
		Command: o.Command, Engine: o.Targets[0].Engine(), Size: o.Plan.Size(), Words: summary.Words, Restore: s.Restore.Name(), Config: s.Config,
	}
	for _, t := range o.Targets {
		r.Targets = append(r.Targets, t.Label())
	}
	for _, l := range o.Limits {
		r.Limits = append(r.Limits, l.String())
	}
	return r
}

// Do runs the search and writes its record after each trial, also where an error ends it. A run whose figures cannot be used
// ends it with a VerdictError.
func (s Search) Do(stop Stop) (result.Search, error) {
	r := s.begin()
	var known []result.Trial
	if s.Left != nil {
		known, r.Start, r.RunID = s.Left.Trials, s.Left.Start, s.Left.RunID
		s.Options.RunID = r.RunID
	}
	if err := result.SaveSearch(s.Dir, r); err != nil {
		return r, err
	}
	var took time.Duration
	made := 0
	var err error
	r.Result, err = tune.Search(stop.Hard, s.Config, func(ctx context.Context, step tune.Step) (result.Trial, error) {
		if at := len(r.Trials); at < len(known) && known[at].Threads == step.Threads {
			r.Trials = append(r.Trials, known[at])
			return known[at], nil
		}
		known = nil // what follows, if anything, was searched by other rules
		begin := time.Now()
		t, err := s.trial(ctx, stop, len(r.Trials)+1, step.Threads)
		if err != nil {
			return t, err
		}
		took, made = took+time.Since(begin), made+1
		t.Why, t.Confirm = step.Why, step.Confirm
		r.Trials = append(r.Trials, t)
		r.Curve = tune.NewCurve(r.Trials)
		s.Trial(len(r.Trials), t, s.Config.Left(r.Curve), took/time.Duration(made))
		return t, result.SaveSearch(s.Dir, r)
	})
	r.End = time.Now()
	switch {
	case err == nil:
		r.Status = result.Done
	case errors.Is(err, driver.ErrStopped) || errors.Is(err, context.Canceled):
		r.Status = result.Interrupted
	default:
		r.Status = result.Failed
	}
	if r.Best != nil {
		median := r.Best.Median()
		record, readErr := result.Read(filepath.Join(s.Dir, median.Record))
		if readErr == nil {
			r.Headline, r.Verdicts = record.Headline, record.Limits
		}
		err = errors.Join(err, readErr)
	}
	return r, errors.Join(err, result.SaveSearch(s.Dir, r))
}

// freeDir is a directory for the record of a trial: a search that was interrupted may have left one of the same name.
func (s Search) freeDir(name string) string {
	for dir := name; ; dir += "-again" {
		if _, err := os.Lstat(filepath.Join(s.Dir, dir)); errors.Is(err, fs.ErrNotExist) {
			return dir
		}
	}
}

// trial is one run with a number of users, from the restored database to its audit.
func (s Search) trial(ctx context.Context, stop Stop, number, threads int) (result.Trial, error) {
	t := result.Trial{Threads: threads, Record: s.freeDir(fmt.Sprintf("%02d-%d-users", number, threads))}
	o := s.Options
	o.Driver.Threads = threads
	o.Driver.Seed += uint64(number) // else, where nothing is restored, the new customers of a repeat find their names taken
	o.RunID = fmt.Sprintf("%s-%02d", o.RunID, number)
	o.Dir = filepath.Join(s.Dir, t.Record)
	if err := s.Restore.Do(ctx, o.Targets); err != nil {
		return t, err
	}
	run, summary, outcome := s.Drive(stop, o)
	if !outcome.counts() {
		return t, outcome.Err
	}
	if summary.Figure == nil {
		return t, errNoFigures
	}
	faults, err := s.Verify(stop, run)
	if err != nil {
		return t, err
	}
	if len(faults) > 0 { // figures of a database that is not what it should be are worth nothing
		return t, &VerdictError{errors.New(strings.Join(faults, "; "))}
	}
	if t.Strain, err = limit.Strain(summary.Limits); err != nil { // it fails, whatever the number of users
		return t, &VerdictError{err}
	}
	t.Unit, t.OPM = summary.Figure.Unit, summary.Figure.Value
	t.P95 = summary.Windows[0].Latency[measure.WholeOrder].P95 / 1000
	t.Passed = limit.UpperHold(summary.Limits)
	t.Reach = limit.Reach(summary.Limits)
	if outcome.Status == result.Aborted { // its window may lie before what it was aborted for
		t.Passed = false
		strain, err := limit.Strain(run.Verdicts())
		if err != nil {
			return t, err
		}
		t.Strain = max(t.Strain, strain)
	}
	return t, nil
}

// VerdictError says that a run was made, and cannot be used.
type VerdictError struct{ Err error }

func (e *VerdictError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *VerdictError) Unwrap() error { return e.Err }

var errNoFigures = errors.New("the run gave no figures")
