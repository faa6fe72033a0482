package limit

import (
	"fmt"
	"slices"

	"ds2/internal/result"
)

// Figures gives the measured value of a metric over a window, in the metric's unit; false where the
// window has no sample of it. atLeast says that only a lower bound is known, as of response times
// where an open loop dropped orders. See [Of] for what each figure is.
type Figures func(Metric) (value float64, atLeast, measured bool)

// Judge gives one verdict for each limit, in their order.
func Judge(limits []Limit, figures Figures) result.Verdicts {
	verdicts := make(result.Verdicts, len(limits))
	for i, l := range limits {
		v := result.Verdict{Limit: l.String(), Unit: l.Unit(), Bound: l.Bound}
		if value, atLeast, measured := figures(l.Metric); measured {
			v.Measured = &value
			v.AtLeast = atLeast
			v.OK = l.Compare.holds(value, l.Bound) && (!atLeast || l.Unit().Lower())
		}
		verdicts[i] = v
	}
	return verdicts
}

// Together gives the verdicts over several runs, each judged by the same limits in the same order.
// A run without verdicts failed, and holds no limit.
func Together(runs []result.Verdicts) (all result.Verdicts) {
	some := slices.IndexFunc(runs, func(run result.Verdicts) bool { return len(run) > 0 })
	if some < 0 {
		return nil
	}
	for i, v := range runs[some] {
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
		all = append(all, v)
	}
	return all
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

// UpperHold tells whether every upper limit holds. Lower limits, those on OPM and IOPS, are the
// ones that fewer users miss and that more may keep, so a search for the number of users asks this
// of its trials, and Passed of its result only.
func UpperHold(verdicts result.Verdicts) bool {
	return !slices.ContainsFunc(verdicts, func(v result.Verdict) bool {
		return !v.OK && !v.Unit.Lower()
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
