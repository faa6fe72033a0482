package limit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Figures gives the measured value of a metric over a window, in the metric's unit; false where the window has no sample
// of it. See [Of] for what each figure is.
type Figures func(Metric) (value float64, measured bool)

// Verdict is a limit and how the measured figure stands to it.
type Verdict struct {
	Limit    string   `json:"limit"`
	Unit     Unit     `json:"unit"`
	Bound    float64  `json:"bound"`    // in Unit
	Measured *float64 `json:"measured"` // in Unit; null where the window has no sample
	OK       bool     `json:"ok"`       // false without a sample: what was not measured cannot pass
}

// Judge gives one verdict for each limit, in their order.
func Judge(limits []Limit, figures Figures) []Verdict {
	verdicts := make([]Verdict, len(limits))
	for i, l := range limits {
		v := Verdict{Limit: l.String(), Unit: l.Unit(), Bound: l.Bound}
		if value, measured := figures(l.Metric); measured {
			v.Measured, v.OK = &value, l.Compare.holds(value, l.Bound)
		}
		verdicts[i] = v
	}
	return verdicts
}

// Passed tells whether every limit holds.
func Passed(verdicts []Verdict) bool {
	for _, v := range verdicts {
		if !v.OK {
			return false
		}
	}
	return true
}

// Failed lists the limits that do not hold, each with its measured value: "order p95 < 500ms (measured 612ms)".
func Failed(verdicts []Verdict) string {
	var failed []string
	for _, v := range verdicts {
		if !v.OK {
			failed = append(failed, fmt.Sprintf("%s (%s)", v.Limit, v.MeasuredText()))
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
	return fmt.Sprintf("%s %s (%s)", word, v.Limit, v.MeasuredText())
}

// MeasuredText gives the measured value in a unit that people read: "measured 312ms", "no samples".
func (v Verdict) MeasuredText() string {
	if v.Measured == nil {
		return "no samples"
	}
	value := *v.Measured
	switch v.Unit {
	case Seconds:
		return "measured " + time.Duration(value*float64(time.Second)).Round(time.Microsecond).String()
	case Ratio:
		return "measured " + strconv.FormatFloat(100*value, 'g', 4, 64) + "%"
	default:
		return "measured " + strconv.FormatFloat(value, 'f', 1, 64)
	}
}
