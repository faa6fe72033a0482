package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"ds2/internal/compare"
	"ds2/internal/driver"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/store"
)

// Bench is the procedure of the storage report (WORKLOAD.md section 6): as many runs as the setup
// asks for, each from the same state of the database. It is of one of the configurations that an
// experiment compares.
type Bench struct {
	Name    string        // of the configuration
	Summary result.Bench  // what has come of it so far
	Unready error         // why it cannot run and is left out; nil: it can
	Dir     string        // of the bench's summary and its runs
	Planned time.Duration // that a run takes, without restore and audit

	// Ready asks for a session of each target before a run, which waits while a server takes none
	// yet; nil: no one asks.
	Ready func(context.Context) error
	// Restore brings the database back to where every run starts; nil: each run goes on where the
	// last ended. That ends when stop is over, or with ctx what must come to its end.
	Restore func(ctx, stop context.Context) error
	// Run makes the run of a place, and its record in a directory.
	Run func(dir string, place runs.Place) (result.Summary, error)
	// Verify makes the audit of a run that is recorded in a directory and was cut off before its
	// audit ended; nil: such a run is made again.
	Verify func(dir string) (result.Summary, error)
	Told   func(format string, args ...any) // is told what goes on
	// Changed is shown the runs of a configuration whenever one begins or ends; nil: no one is.
	Changed func(configuration string, b result.Bench)

	ran      bool
	out      error // why it is left out; nil: it takes part
	failures int   // runs that failed, one after the other
}

// Do makes the runs of a bench, which is an experiment of one configuration, from the start or from
// where its summary ends.
func (bench *Bench) Do(ctx, stop context.Context) error {
	orders := slices.Repeat([][]int{{0}}, bench.Summary.Spec.Runs)
	return Experiment{Benches: []*Bench{bench}, Orders: orders}.Do(ctx, stop)
}

// conductRun makes the last run: wait for servers that recover, restore, settle, idle, run, cool
// down. Where says where the experiment is.
func (bench *Bench) conductRun(ctx, stop context.Context, place runs.Place, where string) error {
	r := &bench.Summary.Runs[len(bench.Summary.Runs)-1]
	told := func(what string) { bench.Told("%s: %s (%s)", r.Dir, what, where) }
	pause := func(d time.Duration) bool { return progress.Pause(stop, d) }
	var err error
	// A server that an earlier run brought down may still recover.
	if bench.Ready != nil {
		say := func(err error) {
			told(fmt.Sprintf("waiting until the server accepts connections: %v", err))
		}
		err = store.AwaitStart(pause, say, func() error { return bench.Ready(stop) })
	}
	if bench.Restore != nil && err == nil && stop.Err() == nil {
		told("restoring the database")
		err = bench.Restore(ctx, stop)
	}
	// An SSD tidies up after the restore's writes, and a server writes its changed pages back:
	// neither is work of the run.
	if bench.Summary.Settle.Duration > 0 && err == nil && stop.Err() == nil {
		told(fmt.Sprintf("settling for %s", bench.Summary.Settle))
		pause(bench.Summary.Settle.Duration)
	}
	if stop.Err() != nil {
		return cmp.Or(context.Cause(ctx), driver.ErrStopped)
	}
	if err != nil {
		return err
	}
	told("running")
	s, err := bench.Run(filepath.Join(bench.Dir, r.Dir), place)
	if err != nil && !(errors.Is(err, driver.ErrStopped) && s.Status.CameToEnd()) {
		return err
	}
	r.Status = s.Status
	compare.Take(r, s)
	if len(s.Windows) == 0 || s.Figure == nil {
		return errors.New("it ended before its first window did")
	}
	if err != nil { // only what follows the run was interrupted
		r.Unaudited = true
		return err
	}
	bench.Told("%s: %.0f %s", r.Dir, r.Figure.Value, r.Figure.Unit)
	return nil
}

// auditLast makes the audit of the last run, where that was cut off: what was measured is not
// measured again.
func (bench *Bench) auditLast() error {
	last := len(bench.Summary.Runs) - 1
	if last < 0 || bench.Verify == nil {
		return nil
	}
	r := &bench.Summary.Runs[last]
	dir := filepath.Join(bench.Dir, r.Dir)
	s, readErr := result.ReadSummary[result.Summary](dir)
	if r.Status == result.Running && readErr == nil && s.Status.CameToEnd() && s.Figure != nil &&
		s.Audit == nil {
		r.Unaudited = true // ds2 was killed beside the audit
	}
	if !r.Unaudited {
		return nil
	}
	bench.Told("%s: auditing what was measured before the interruption", r.Dir)
	if s, readErr = bench.Verify(dir); readErr != nil {
		return readErr
	}
	compare.Take(r, s)
	r.Unaudited = false
	r.Status = s.Status
	return nil
}

// CompleteBench adds to the runs of the bench in o.Dir what has become known since they were made,
// such as a meter's log.
func CompleteBench(o runs.Options, b *result.Bench) error {
	dir := o.Dir
	for i := range b.Runs {
		r := &b.Runs[i]
		if r.Figure == nil { // it failed, or was interrupted
			continue
		}
		o.Dir = filepath.Join(dir, r.Dir)
		s, err := runs.Complete(o)
		if err != nil {
			return err
		}
		compare.Take(r, s)
	}
	compare.Runs(b)
	return result.SaveSummary(dir, *b)
}
