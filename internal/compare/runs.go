// Package compare says what several runs come to: which of them count, their means and medians,
// whether limits hold in all of them, and how configurations differ. What one run comes to is in
// package conclude; how any of it is shown is in package report.
//
// Every run that reached its window counts, and each run is made once: one that did not is a failed
// run of its configuration, and no other is made in its place. Only runs that ds2 or its machine
// broke off are made again.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"ds2/internal/conclude"
	"ds2/internal/diagnose"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Take takes into the summary of several runs what one of them comes to.
func Take(run *result.BenchRun, s result.Summary) {
	power := cmp.Or(s.Power, new(result.Power))
	bottleneck := cmp.Or(s.Bottleneck, new(result.Bottleneck))
	run.Headline = s.Headline
	run.Limits = s.Limits
	run.Costs = s.Costs
	run.Environment = nil
	if s.Machine != nil || len(s.Servers) > 0 {
		run.Environment = new(result.EnvironmentOf(s))
	}
	run.Conditions = s.Conditions
	run.Idle = power.Idle
	run.Active = power.Active
	run.Bottleneck = bottleneck.What
	conclude.Find(&s)
	run.Findings = s.Findings
	run.P95 = nil
	run.P95AtLeast = false
	run.Slope = nil
	if len(s.Windows) == 0 {
		return
	}
	if steady := s.Windows[0].Steady; steady.Range > 0 { // it was judged
		run.Slope = &steady.Drift
	}
	if l, measured := s.Windows[0].Latency[measure.WholeOrder]; measured {
		// Dropped orders are observations that are cut off: percentiles from some one on are lower
		// bounds.
		run.P95 = &l.P95
		run.P95AtLeast = l.AtLeastFrom != nil && *l.AtLeastFrom < 95
	}
}

// Single is a run as a bench of one.
func Single(s result.Summary) result.Bench {
	counted := result.Done // whatever it ended by: its figures are looked at
	if s.Status == result.Aborted {
		counted = s.Status // and no limit holds in it
	}
	b := result.Bench{
		Spec:  s.Spec,
		Start: s.Start,
		End:   s.End,
		Runs:  []result.BenchRun{{Dir: ".", Status: counted}},
	}
	b.Spec.Runs = 1
	Take(&b.Runs[0], s)
	Runs(&b)
	b.Runs[0].Status = s.Status
	return b
}

// Made says that a run is over and is not made again.
func Made(r result.BenchRun) bool {
	return r.Status.CameToEnd() || r.Status == result.Failed
}

// Counted are the runs of a bench that count.
func Counted(b result.Bench) []result.BenchRun {
	return slices.DeleteFunc(slices.Clone(b.Runs), func(r result.BenchRun) bool {
		return !r.Counts
	})
}

// SelectMade are those of runs that are over and not made again, those for practice or the others.
func SelectMade(runs []result.BenchRun, practice bool) []result.BenchRun {
	return slices.DeleteFunc(slices.Clone(runs), func(r result.BenchRun) bool {
		return r.Practice != practice || !Made(r)
	})
}

// Enough says whether as many runs are made as must.
func Enough(b result.Bench) bool { return len(SelectMade(b.Runs, false)) >= b.Spec.Runs }

// unitOf is the unit of the results of a bench: the workload's, where any run has it.
func unitOf(b result.Bench) (unit string) {
	for _, r := range b.Runs {
		if r.Figure != nil && (unit == "" || r.Figure.Unit == b.Words.Unit) {
			unit = r.Figure.Unit
		}
	}
	return unit
}

// OtherUnit says why a run does not count whose result is in another unit than that of the bench;
// empty where it is not.
func OtherUnit(b result.Bench, r result.BenchRun) string {
	if unit := unitOf(b); r.Figure != nil && r.Figure.Unit != unit {
		return fmt.Sprintf(
			"its result is in %s, not in %s: the I/Os of its drives were not counted",
			r.Figure.Unit, unit)
	}
	return ""
}

// Runs says which runs of a bench count by what was asked for, and what they come to. One whose
// result is in another unit than those of the others, because the I/Os of its drives were not
// counted, does not.
func Runs(b *result.Bench) {
	unit := unitOf(*b)
	for i, r := range b.Runs {
		b.Runs[i].Counts = !r.Practice && Made(r) && r.Figure != nil && r.Figure.Unit == unit &&
			!(r.Unsteady() && b.DropUnsteady)
	}
	b.Median = ""
	b.Headline = result.Headline{}
	b.Active = nil
	b.Idle = nil
	b.RunsMean = nil
	b.RunsCI95 = nil
	b.RunsSpread = nil
	b.Limits = limits(*b)
	defer func() { b.Findings = Findings(*b) }()
	runs := Counted(*b)
	if len(runs) == 0 {
		return
	}
	slices.SortStableFunc(runs, func(a, c result.BenchRun) int {
		return cmp.Compare(a.Figure.Value, c.Figure.Value)
	})
	stands := runs[(len(runs)-1)/2]
	b.Median = stands.Dir
	var all []float64
	for _, r := range runs {
		all = append(all, r.Figure.Value)
	}
	f := &result.Figure{Unit: unit, Value: measure.Median(all), PerWatt: stands.PerWatt()}
	// The interval within a run says how well its own mean is known, and nothing of the next run.
	if len(runs) == 1 {
		f.CI95 = runs[0].CI95()
	}
	b.Headline = result.NewHeadline(f)
	b.Idle = MetricNamed("idle_w").Middle(Configuration{Bench: *b}, false)
	b.Active = stands.Active
	mean, half := measure.MeanCI95(all)
	b.RunsMean = &mean
	if len(all) > 1 {
		half = math.Hypot(half, measure.Student(.975, float64(len(all)-1))*sharedBy(runs))
		b.RunsCI95 = &half
		if mean > 0 {
			b.RunsSpread = new(100 * (all[len(all)-1] - all[0]) / mean)
		}
	}
}

// sharedBy is the standard deviation of what runs may have in common that none of their differences
// shows: that of sharedWithin, and half of the trend that they have in common.
func sharedBy(runs []result.BenchRun) float64 {
	var values, trends []float64
	for _, r := range runs {
		values = append(values, r.Figure.Value)
		if r.Slope != nil {
			trends = append(trends, *r.Slope)
		}
	}
	shared := sharedWithin(runs)
	// Where every run rises by so much while it is measured, its mean lies half of that below the
	// end of its window, and it is unknown where the rise would end.
	if trend := measure.SharedTrend(trends); len(trends) == len(values) {
		shared = math.Hypot(shared, trend/2/100*measure.Median(values))
	}
	return shared
}

// sharedWithin is measure.Shared of the results of runs.
func sharedWithin(runs []result.BenchRun) float64 {
	var values []float64
	var halves []*float64
	for _, r := range runs {
		values = append(values, r.Figure.Value)
		halves = append(halves, r.CI95())
	}
	return measure.Shared(values, halves)
}

// limits are those of a bench, over all runs that have a result, dropped ones too: who leaves out
// the runs that were not steady would leave out those that miss a limit. None holds in a run that
// failed or that a limit ended.
func limits(b result.Bench) result.Verdicts {
	var all []result.Verdicts
	for _, r := range SelectMade(b.Runs, false) {
		verdicts := slices.Clone(r.Limits)
		switch {
		case r.Figure == nil:
			verdicts = nil
		case r.Status == result.Aborted && verdicts.Which(result.Verdict.Missed) == "":
			// The limit failed after the window, which therefore does not show it.
			for i := range verdicts {
				verdicts[i].OK = false
				verdicts[i].CannotTell = false
			}
		}
		all = append(all, verdicts)
	}
	return limit.Together(all)
}

// Bottlenecks are what limited the runs that count, that of the most runs first, and how many each
// did; those of which it is not known are left out.
func Bottlenecks(b result.Bench) (whats []string, runs map[string]int) {
	runs = map[string]int{}
	for _, r := range Counted(b) {
		if r.Bottleneck != "" {
			runs[r.Bottleneck]++
		}
	}
	return slices.SortedFunc(maps.Keys(runs), func(a, b string) int {
		return cmp.Or(runs[b]-runs[a], strings.Compare(a, b))
	}), runs
}

// Bottleneck is what limited most of the runs that count: unclear where there is no such thing, and
// empty where it is known of none.
func Bottleneck(b result.Bench) string {
	switch whats, runs := Bottlenecks(b); {
	case len(whats) == 0:
		return ""
	case 2*runs[whats[0]] > len(Counted(b)):
		return whats[0]
	}
	return diagnose.Unclear
}

// Open reads a record of any kind; see result.Open. Runs and benches are concluded over the windows
// that are asked for.
func Open(read conclude.Reader, dir string) (any, error) {
	opened, err := result.Open(dir)
	if err != nil {
		return nil, err
	}
	switch record := opened.(type) {
	case *result.Record:
		return record, read.Judge(record)
	case result.Bench:
		err = again(read, dir, &record)
		return record, err
	}
	return opened, nil
}

// again reads what the runs of a bench came to, by their records: over the windows that are asked
// for, and with what was learnt since. A run that a limit ended before them has no result there.
func again(read conclude.Reader, dir string, b *result.Bench) error {
	for i := range b.Runs {
		run := &b.Runs[i]
		if !Made(*run) {
			continue
		}
		path := filepath.Join(dir, run.Dir)
		if len(read.Windows) == 0 || run.Figure == nil {
			if err := learn(path, run); err != nil {
				return err
			}
			continue
		}
		record, err := read.Run(path)
		if _, short := errors.AsType[*conclude.WindowError](err); short &&
			run.Status == result.Aborted {
			run.Headline = result.Headline{}
			continue
		}
		if err != nil {
			return err
		}
		Take(run, record.Summary)
	}
	Runs(b)
	return nil
}

// learn takes what the record of a run says by now. A run that failed may have none; of another
// that is gone, nobody knows what was found later.
func learn(dir string, run *result.BenchRun) error {
	s, err := result.ReadSummary[result.Summary](dir)
	if errors.Is(err, result.ErrNone) {
		if run.Status != result.Failed {
			run.Findings = append(run.Findings, result.NewFinding(result.RecordGone, ""))
		}
		return nil
	}
	if err != nil {
		return err
	}
	failed := result.FindingOf(run.Findings, result.RunFailed)
	Take(run, s)
	if run.Status == result.Failed { // what it measured until then is no result
		run.Headline = result.Headline{}
	}
	if failed != nil && result.FindingOf(run.Findings, result.RunFailed) == nil {
		run.Findings = append(run.Findings, *failed)
	}
	return nil
}
