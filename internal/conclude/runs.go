package conclude

import (
	"cmp"
	"fmt"
	"slices"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// Digest takes into the summary of several runs what one of them comes to.
func Digest(run *result.BenchRun, s result.Summary) {
	run.Headline, run.Limits = s.Headline, s.Limits
	run.Costs, run.Conditions = s.Costs, s.Conditions
	run.P95, run.Idle, run.Active, run.Bottleneck, run.Unsteady = nil, nil, nil, "", ""
	run.Warnings, run.Drift = s.Warnings, nil
	if len(s.Windows) > 0 {
		w := s.Windows[0]
		if l, measured := w.Latency[measure.WholeOrder]; measured {
			run.P95 = &l.P95
		}
		if !w.Steady.Verdict {
			run.Unsteady = w.Steady.Why
		}
		if w.Steady.Drifts() {
			run.Drift = new(w.Steady.Drift)
		}
	}
	if s.Power != nil {
		run.Idle, run.Active = s.Power.Idle, s.Power.Active
	}
	if s.Bottleneck != nil {
		run.Bottleneck = s.Bottleneck.What
		run.Warnings = slices.Concat(s.Bottleneck.Warnings, s.Warnings)
	}
}

// Single is a run as a bench of one.
func Single(s result.Summary) result.Bench {
	b := result.Bench{
		KitVersion: s.KitVersion, Command: s.Command, Start: s.Start, End: s.End, Words: s.Words,
		Setup: result.Setup{
			Engine: s.Engine, Targets: s.Targets, Size: s.Size, Threads: s.Threads, Seed: s.Seed,
			Parameters: s.Parameters, Runs: 1,
		},
		Runs: []result.BenchRun{{Dir: ".", Status: result.Done}}, // whatever it ended by: its figures are looked at
	}
	Digest(&b.Runs[0], s)
	Bench(&b)
	b.Runs[0].Status = s.Status
	return b
}

// Counted are the runs of a bench that count.
func Counted(b result.Bench) []result.BenchRun {
	return slices.DeleteFunc(slices.Clone(b.Runs), func(r result.BenchRun) bool { return !r.Counts })
}

// Drift is that most runs of a bench drift the same way: what they come to hangs on when they were measured, however
// little they scatter.
type Drift struct {
	Runs, Of    int
	Least, Most float64 // percent over the window
}

// DriftOf is that of the runs that count; nil where not most of them drift, or not the same way.
func DriftOf(b result.Bench) *Drift {
	counted := Counted(b)
	var up, down []float64
	for _, r := range counted {
		switch {
		case r.Drift == nil:
		case *r.Drift > 0:
			up = append(up, *r.Drift)
		default:
			down = append(down, *r.Drift)
		}
	}
	for _, way := range [][]float64{up, down} {
		if 2*len(way) > len(counted) {
			return &Drift{Runs: len(way), Of: len(counted), Least: slices.Min(way), Most: slices.Max(way)}
		}
	}
	return nil
}

// Enough says whether as many runs count as must.
func Enough(b result.Bench) bool { return len(Counted(b)) >= b.Setup.Runs }

// counts says whether a run counts by what the setup asks for. One whose result is in another unit than those of the
// others, because nobody counted the I/Os of its drives, does not.
func counts(r result.BenchRun, setup result.Setup, unit string) bool {
	return !r.Practice && r.Status == result.Done && r.Figure != nil && r.Figure.Unit == unit &&
		(len(r.Faults) == 0 || setup.KeepFaulty) && (r.Unsteady == "" || !setup.DropUnsteady)
}

// unitOf is the unit of the results of a bench: the workload's, where any run has it.
func unitOf(b result.Bench) (unit string) {
	for _, r := range b.Runs {
		if r.Figure != nil && (unit == "" || r.Figure.Unit == b.Words.Unit) {
			unit = r.Figure.Unit
		}
	}
	return unit
}

// Bench says which runs of a bench count, and what they come to.
func Bench(b *result.Bench) {
	unit := unitOf(*b)
	for i := range b.Runs {
		r := &b.Runs[i]
		r.Counts = counts(*r, b.Setup, unit)
	}
	b.Median, b.Headline, b.Active, b.Idle, b.Limits = "", result.Headline{}, nil, nil, nil
	b.RunsMean, b.RunsCI95, b.RunsSpread = nil, nil, nil
	runs := Counted(*b)
	if len(runs) == 0 {
		return
	}
	slices.SortStableFunc(runs, func(a, c result.BenchRun) int { return cmp.Compare(a.Figure.Value, c.Figure.Value) })
	median := runs[(len(runs)-1)/2]
	b.Median, b.Limits = median.Dir, median.Limits
	var all []float64
	for _, r := range runs {
		all = append(all, r.Figure.Value)
	}
	b.Headline = result.NewHeadline(&result.Figure{
		Unit: unit, Value: measure.Median(all), CI95: median.Figure.CI95,
		PerWatt: medianOf(runs, func(r result.BenchRun) *float64 { return r.Figure.PerWatt }),
	})
	b.Idle = medianOf(runs, func(r result.BenchRun) *float64 { return r.Idle })
	b.Active = medianOf(runs, func(r result.BenchRun) *float64 { return r.Active })
	mean, half := measure.MeanCI95(all)
	b.RunsMean = &mean
	if len(all) > 1 {
		b.RunsCI95 = &half
		b.RunsSpread = new(100 * (all[len(all)-1] - all[0]) / mean)
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

// OtherUnit says why a run does not count whose result is in another unit than that of the bench; empty where it is
// not.
func OtherUnit(b result.Bench, r result.BenchRun) string {
	if unit := unitOf(b); r.Figure != nil && r.Figure.Unit != unit {
		return fmt.Sprintf("its result is in %s, not in %s: nobody counted the I/Os of the drives", r.Figure.Unit, unit)
	}
	return ""
}
