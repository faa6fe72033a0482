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

	"ds2/internal/driver"
	"ds2/internal/measure"
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
	if err != nil {
		return err
	}
	if len(s.Windows) == 0 {
		return errors.New("the run has no window to take its OPM from")
	}
	window := s.Windows[0]
	figure := s.Figure()
	run.Limits = s.Limits
	b.Unit, b.Words = result.UnitOf(figure.Unit), s.Words
	run.Status, run.OPM, run.CI95, run.Faults = s.Status, figure.Value, figure.CI95, faults
	if !window.Steady.Verdict {
		run.Unsteady = window.Steady.Why
	}
	if l, measured := window.Latency[measure.WholeOrder]; measured {
		run.P95 = &l.P95
	}
	takeObserved(run, s)
	p.Told("%s: %.1f %s", run.Dir, *run.OPM, figure.Unit)
	return nil
}

// takeObserved takes from a run's summary what was seen beside the orders.
func takeObserved(run *result.BenchRun, s result.Summary) {
	if s.Power != nil {
		run.Idle, run.Active = s.Power.Idle, s.Power.Active
	}
	if s.Bottleneck != nil {
		run.Bottleneck = s.Bottleneck.What
	}
	run.Costs, run.Conditions = s.Costs, s.Conditions
}

// counts says whether a run counts by what the setup asks for.
func counts(r result.BenchRun, setup result.Setup) bool {
	return r.Status == result.Done && r.OPM != nil && (len(r.Faults) == 0 || setup.KeepFaulty) && (r.Unsteady == "" || !setup.DropUnsteady)
}

// Enough says whether as many runs count as must.
func Enough(b result.Bench) bool { return counted(&b) >= b.Setup.Runs }

func counted(b *result.Bench) (n int) {
	for _, r := range b.Runs {
		if r.Counts {
			n++
		}
	}
	return n
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
		takeObserved(run, s)
	}
	Stand(b)
	return result.SaveBench(dir, *b)
}

// Stand says which runs count, and computes what they come to.
func Stand(b *result.Bench) {
	var runs []result.BenchRun
	for i := range b.Runs {
		r := &b.Runs[i]
		if r.Counts = counts(*r, b.Setup); r.Counts {
			runs = append(runs, *r)
		}
	}
	b.Median, b.OPM, b.CI95, b.Active, b.OPMPerWatt, b.Idle, b.Limits = "", nil, nil, nil, nil, nil, nil
	b.RunsMean, b.RunsCI95, b.RunsSpread = nil, nil, nil
	if len(runs) == 0 {
		return
	}
	slices.SortStableFunc(runs, func(a, c result.BenchRun) int { return cmp.Compare(*a.OPM, *c.OPM) })
	median := runs[(len(runs)-1)/2]
	b.Median, b.CI95, b.Limits = median.Dir, median.CI95, median.Limits
	var opm []float64
	for _, r := range runs {
		opm = append(opm, *r.OPM)
	}
	b.OPM = new(measure.Median(opm))
	b.Idle = medianOf(runs, func(r result.BenchRun) *float64 { return r.Idle })
	b.Active = medianOf(runs, func(r result.BenchRun) *float64 { return r.Active })
	b.OPMPerWatt = medianOf(runs, func(r result.BenchRun) *float64 {
		if r.Active == nil || *r.Active <= 0 {
			return nil
		}
		return new(*r.OPM / *r.Active)
	})
	mean, half := measure.MeanCI95(opm)
	b.RunsMean = &mean
	if len(opm) > 1 {
		b.RunsCI95 = &half
		b.RunsSpread = new(100 * (opm[len(opm)-1] - opm[0]) / mean)
	}
}

// medianOf is the median of what was measured in runs; nil where it was in none.
func medianOf(runs []result.BenchRun, of func(result.BenchRun) *float64) *float64 {
	var all []float64
	for _, r := range runs {
		if v := of(r); v != nil {
			all = append(all, *v)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return new(measure.Median(all))
}

// Differences names the fields in which two setups differ; a bench is resumed only where there are none. How many runs
// must count, and which do, may differ: that only judges.
func Differences(a, b result.Setup) []string {
	a.Runs, a.KeepFaulty, a.DropUnsteady = b.Runs, b.KeepFaulty, b.DropUnsteady
	var names []string
	for i, x, y := 0, reflect.ValueOf(a), reflect.ValueOf(b); i < x.NumField(); i++ {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			name, _, _ := strings.Cut(x.Type().Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}
