package limit

import (
	"fmt"
	"math"
	"slices"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// Figure is what was measured, in the metric's unit.
type Figure struct {
	Value   float64
	AtLeast bool // only a lower bound is known, as where an open loop dropped orders
	// Half is half the width of the 95 % interval; nil: there is none, and the value is judged.
	Half *float64
}

// Figures gives the figure of a metric over a window; false where the window has no sample of it.
// See [Source] for what each is. With nil nothing was measured.
type Figures func(Metric) (f Figure, measured bool)

// Judge gives one verdict for each limit, in their order.
func Judge(limits []Limit, figures Figures) result.Verdicts {
	verdicts := make(result.Verdicts, len(limits))
	for i, l := range limits {
		v := result.Verdict{Limit: l.String(), Unit: l.Unit(), Bound: l.Bound}
		var f Figure
		measured := false
		if figures != nil {
			f, measured = figures(l.Metric)
		}
		if measured {
			v.Measured = &f.Value
			v.AtLeast = f.AtLeast
			v.OK = l.Compare.holdsFor(f.Value, l.Bound) && (!f.AtLeast || l.Unit().Lower())
			if f.Half != nil {
				l.weigh(&v, f.Value, *f.Half)
			}
		}
		verdicts[i] = v
	}
	return verdicts
}

// weigh judges by an interval instead of its middle: where the bound lies in it, nothing can be
// told, and what is seen stays.
func (l Limit) weigh(v *result.Verdict, middle, half float64) {
	v.Low = new(max(0, middle-half)) // no latency, rate or share is below 0
	v.High = new(middle + half)
	holds := l.Compare.holdsFor(*v.Low, l.Bound)
	if v.CannotTell = holds != l.Compare.holdsFor(*v.High, l.Bound); !v.CannotTell {
		v.OK = holds
	}
}

// Together gives the verdicts over several runs, each judged by the same limits in the same order:
// by the interval of the mean of the runs, and where there is none a limit holds if it holds in
// each. A run without verdicts failed, and holds no limit.
func Together(runs []result.Verdicts) (all result.Verdicts) {
	some := slices.IndexFunc(runs, func(run result.Verdicts) bool { return len(run) > 0 })
	if some < 0 {
		return nil
	}
	for i, v := range runs[some] {
		// Without a mean, a limit has to hold in each run: the figure that is shown is the worst.
		v.Runs = len(runs)
		for _, run := range runs {
			if i < len(run) && run[i].OK {
				v.Held++
			}
			if i < len(run) && worse(run[i], v) {
				v.Measured = run[i].Measured
				v.AtLeast = run[i].AtLeast
			}
		}
		v.OK = v.Held == v.Runs
		if v.Runs > 1 {
			v = weighRuns(v, runs, i)
		}
		all = append(all, v)
	}
	return all
}

// weighRuns judges a limit, the one at a place among those of each run, by the interval of the mean
// of the runs.
func weighRuns(v result.Verdict, runs []result.Verdicts, at int) result.Verdict {
	v.Low = nil
	v.High = nil
	v.CannotTell = false
	l, err := Parse(v.Limit)
	if err != nil || l.asSeen() {
		return v
	}
	var values []float64
	var halves []*float64
	for _, run := range runs {
		if at >= len(run) || run[at].Measured == nil ||
			l.Compare.holdsFor(*run[at].Measured, l.Bound) != run[at].OK {
			return v // of a run that failed or was ended, or a lower bound: no mean has that
		}
		values = append(values, *run[at].Measured)
		halves = append(halves, run[at].Half())
	}
	// The mean's interval has two parts, whose variances add up: by how much the runs differ, and
	// what they may have in common, which no difference shows.
	mean, half := measure.MeanCI95(values)
	shared := measure.Student(.975, float64(len(values)-1)) * measure.Shared(values, halves)
	l.weigh(&v, mean, math.Hypot(half, shared))
	return v
}

// worse says whether a verdict is farther on the wrong side of the limit than another; without a
// sample it is worst.
func worse(v, other result.Verdict) bool {
	switch {
	case v.Measured == nil || other.Measured == nil:
		return v.Measured == nil
	case v.Unit.Lower():
		return *v.Measured < *other.Measured
	}
	return *v.Measured > *other.Measured
}

// UpperHold tells whether every upper limit holds: by its interval, or by what was seen alone, as
// of one trial of several. Lower limits, those on OPM and IOPS, are the ones that fewer users miss
// and that more may keep, so a search for the number of users asks this of its trials, and Passed
// of its result only.
func UpperHold(verdicts result.Verdicts, holds func(result.Verdict) bool) bool {
	return !slices.ContainsFunc(verdicts, func(v result.Verdict) bool {
		return !holds(v) && !v.Unit.Lower() // latencies and shares of errors, which users raise
	})
}

// Strain is the highest ratio of a measured figure to its upper limit: 0.8 keeps them all with a
// fifth to spare. Lower limits, those on OPM and IOPS, do not count. A limit without a sample is an
// error.
func Strain(verdicts result.Verdicts) (float64, error) {
	highest := 0.0
	for _, v := range verdicts {
		switch {
		case v.Unit.Lower():
		case v.Measured == nil:
			return 0, fmt.Errorf("judge limit %s: the run has no sample of it", v.Limit)
		case v.Bound > 0:
			highest = max(highest, *v.Measured/v.Bound)
		case *v.Measured > 0: // above a limit of nothing at all
			highest = max(highest, beyond)
		}
	}
	return highest, nil
}

// beyond is the strain of what should not be there at all.
const beyond = 1000
