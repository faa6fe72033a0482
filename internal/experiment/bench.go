package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"ds2/internal/conclude"
	"ds2/internal/driver"
	"ds2/internal/result"
)

// Bench is the procedure of the storage report (WORKLOAD.md section 6): as many runs as the setup asks for, each from the
// same state of the database.
type Bench struct {
	Dir     string        // of the bench's summary and its runs
	Planned time.Duration // that a run takes, without restore and audit

	// Restore brings the database back to the state that every run starts from; nil: each run goes on where the last ended.
	Restore func(context.Context) error
	// Run makes the run of a number, counted from 1 over all of an experiment, and its record in a directory; faults say what
	// is wrong with it.
	Run func(ctx context.Context, dir string, number int) (s result.Summary, faults []string, err error)
	// Told is told what goes on.
	Told func(format string, args ...any)
}

// ErrTooFew says that too few runs of a bench count.
var ErrTooFew = errors.New("too few runs count")

// Do makes the runs of a bench, which is an experiment of one configuration, from the start or from where b, which is the
// bench's summary, ends.
func (p Bench) Do(ctx context.Context, stop <-chan struct{}, b result.Bench) (result.Bench, error) {
	c := &Configuration{Procedure: p, Summary: b}
	err := Experiment{Configurations: []*Configuration{c}, Orders: slices.Repeat([][]int{{0}}, b.Setup.Runs), Told: p.Told}.Do(ctx, stop)
	return c.Summary, err
}

// run makes the last run of b, of a number among all runs: restore, settle, idle, run, cool down. Where says where the experiment is.
func (p Bench) run(ctx context.Context, stop <-chan struct{}, b *result.Bench, number int, where string) error {
	run := &b.Runs[len(b.Runs)-1]
	told := func(what string) { p.Told("%s: %s (%s)", run.Dir, what, where) }
	if p.Restore != nil {
		told("restoring the database")
		if err := p.Restore(ctx); err != nil {
			return err
		}
	}
	settle := time.Duration(b.Setup.Settle * float64(time.Second))
	told(fmt.Sprintf("settling for %s", settle))
	if !pause(ctx, stop, settle) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return driver.ErrStopped
	}
	told("running")
	s, faults, err := p.Run(ctx, filepath.Join(p.Dir, run.Dir), number)
	if err != nil && !(errors.Is(err, driver.ErrStopped) && s.Status == result.Done) {
		return err
	}
	if len(s.Windows) == 0 {
		return cmp.Or(err, errors.New("the run has no window to take its OPM from"))
	}
	conclude.Digest(run, s)
	run.Status, run.Faults, b.Words = s.Status, faults, s.Words
	if err != nil { // only what follows the run was interrupted
		return err
	}
	p.Told("%s: %.1f %s", run.Dir, run.Figure.Value, run.Figure.Unit)
	return nil
}

// CompleteBench adds to the runs of the bench in o.Dir what has become known since they were made, such as a meter's log.
func CompleteBench(ctx context.Context, o Options, b *result.Bench) error {
	dir := o.Dir
	for i := range b.Runs {
		run := &b.Runs[i]
		if run.Status != result.Done {
			continue
		}
		o.Dir = filepath.Join(dir, run.Dir)
		s, err := complete(ctx, o)
		if err != nil {
			return err
		}
		conclude.Digest(run, s)
	}
	conclude.Bench(b)
	return result.SaveBench(dir, *b)
}

// Differences names the fields in which two setups differ; a bench is resumed only where there are none. How many runs
// must count, and which do, may differ: that only judges.
func Differences(a, b result.Setup) []string {
	a.Runs, a.KeepFaulty, a.DropUnsteady = b.Runs, b.KeepFaulty, b.DropUnsteady
	return differing(reflect.ValueOf(a), reflect.ValueOf(b))
}

// differing names the fields in which two structures differ, by their names in records; those of what the workload alone reads by the
// names that reports have for them.
func differing(x, y reflect.Value) (names []string) {
	for i := range x.NumField() {
		a, b := x.Field(i).Interface(), y.Field(i).Interface()
		if reflect.DeepEqual(a, b) {
			continue
		}
		name, _, _ := strings.Cut(x.Type().Field(i).Tag.Get("json"), ",")
		switch a := a.(type) {
		case result.Parameters:
			b := b.(result.Parameters)
			if !slices.Equal(a.InWords, b.InWords) { // the same in words
				a.Own = b.Own
			}
			names = append(names, differing(reflect.ValueOf(a), reflect.ValueOf(b))...)
		case []result.Said:
			for _, said := range slices.Concat(a, b.([]result.Said)) {
				if slices.Contains(a, said) != slices.Contains(b.([]result.Said), said) && !slices.Contains(names, said.Name) {
					names = append(names, said.Name)
				}
			}
		default:
			names = append(names, name)
		}
	}
	return names
}
