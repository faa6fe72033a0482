package limit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Figures gives the measured value of a metric over a window, in the metric's unit; false where the window has no
// sample of it. atLeast says that only a lower bound is known, as of response times where an open loop dropped orders.
// See [Of] for what each figure is.
type Figures func(Metric) (value float64, atLeast, measured bool)

// Verdict is a limit and how the measured figure stands to it.
type Verdict struct {
	Limit    string   `json:"limit"`
	Unit     Unit     `json:"unit"`
	Bound    float64  `json:"bound"`              // in Unit
	Measured *float64 `json:"measured"`           // in Unit; null where the window has no sample
	AtLeast  bool     `json:"at_least,omitempty"` // Measured is a lower bound
	OK       bool     `json:"ok"`                 // never without a sample; a lower bound keeps no upper limit

	// Of a limit over several runs, which holds if it holds in all: how many there are, and in how many it holds.
	// Measured is then that of the worst.
	Runs int `json:"runs,omitempty"`
	Held int `json:"runs_held,omitempty"`
}

// Judge gives one verdict for each limit, in their order.
func Judge(limits []Limit, figures Figures) []Verdict {
	verdicts := make([]Verdict, len(limits))
	for i, l := range limits {
		v := Verdict{Limit: l.String(), Unit: l.Unit(), Bound: l.Bound}
		if value, atLeast, measured := figures(l.Metric); measured {
			v.Measured, v.AtLeast = &value, atLeast
			v.OK = l.Compare.holds(value, l.Bound) && (!atLeast || l.Unit().lower())
		}
		verdicts[i] = v
	}
	return verdicts
}

// Together gives the verdicts over several runs, each judged by the same limits in the same order. A run without
// verdicts failed, and holds no limit.
func Together(runs [][]Verdict) (all []Verdict) {
	some := slices.IndexFunc(runs, func(run []Verdict) bool { return len(run) > 0 })
	if some < 0 {
		return nil
	}
	for i, v := range runs[some] {
		v.Runs, v.OK = len(runs), true
		for _, run := range runs {
			if i >= len(run) {
				v.OK = false
				continue
			}
			one := run[i]
			if one.OK {
				v.Held++
			}
			v.OK = v.OK && one.OK
			if one.worse(v) {
				v.Measured, v.AtLeast = one.Measured, one.AtLeast
			}
		}
		all = append(all, v)
	}
	return all
}

// worse says whether a verdict is farther on the wrong side of the limit than another; without a sample it is worst.
func (v Verdict) worse(other Verdict) bool {
	switch {
	case v.Measured == nil || other.Measured == nil:
		return v.Measured == nil
	case v.Unit.lower():
		return *v.Measured < *other.Measured
	}
	return *v.Measured > *other.Measured
}

// Passed tells whether every limit holds.
func Passed(verdicts []Verdict) bool {
	return !slices.ContainsFunc(verdicts, func(v Verdict) bool { return !v.OK })
}

// Failed lists the limits that do not hold, each with its measured value: "order p95 < 500ms (measured 612ms)".
func Failed(verdicts []Verdict) string {
	var failed []string
	for _, v := range verdicts {
		if !v.OK {
			failed = append(failed, fmt.Sprintf("%s (%s)", v.Limit, v.inBrackets()))
		}
	}
	return strings.Join(failed, ", ")
}

// String gives the verdict as one line: "PASS order p95 < 500ms (measured 312ms)".
func (v Verdict) String() string {
	word := "FAIL"
	if v.OK {
		word = "PASS"
	}
	return fmt.Sprintf("%s %s (%s)", word, v.Limit, v.inBrackets())
}

func (v Verdict) inBrackets() string {
	text := "measured " + v.Value()
	if v.Measured == nil {
		text = v.Value()
	}
	if v.Runs > 1 {
		return fmt.Sprintf("%d of %d runs hold it, %s at worst", v.Held, v.Runs, text)
	}
	return text
}

// Value gives the measured value in a unit that people read: "312ms", "no samples".
func (v Verdict) Value() string {
	if v.Measured == nil {
		return "no samples"
	}
	value, least := *v.Measured, ""
	if v.AtLeast {
		least = "at least "
	}
	switch v.Unit {
	case Seconds:
		return least + time.Duration(value*float64(time.Second)).Round(time.Microsecond).String()
	case Ratio:
		return strconv.FormatFloat(100*value, 'g', 4, 64) + "%"
	}
	if value >= 100 { // down, so that a figure below its lower limit does not seem to meet it
		return strconv.FormatFloat(math.Floor(value), 'f', 0, 64)
	}
	return strconv.FormatFloat(value, 'f', 1, 64)
}

// UpperHold tells whether every upper limit holds. Lower limits, those on OPM and IOPS, are the ones that fewer users
// miss and that more may keep, so a search for the number of users asks this of its trials, and Passed of its result
// only.
func UpperHold(verdicts []Verdict) bool {
	return Passed(slices.DeleteFunc(slices.Clone(verdicts), func(v Verdict) bool { return v.Unit.lower() }))
}

// Strain is the highest ratio of a measured figure to its upper limit: 0.8 keeps them all with a fifth to spare. Lower
// limits, those on OPM and IOPS, do not count. A limit without a sample is an error.
func Strain(verdicts []Verdict) (float64, error) {
	highest := 0.0
	for _, v := range verdicts {
		switch {
		case v.Unit.lower():
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
