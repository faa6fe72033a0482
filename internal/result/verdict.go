package result

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Unit is the unit of a limit: always a base unit, as in Prometheus.
type Unit string

// The units.
const (
	UnitSeconds Unit = "seconds"
	UnitRatio   Unit = "ratio" // 0.001 is 0.1 %
	UnitOPM     Unit = "opm"   // orders a minute
	UnitIOPS    Unit = "iops"  // reads and writes of the data's drives a second
)

// Lower says that a figure in this unit has a lower limit: fewer users miss it, where they keep the
// others better.
func (u Unit) Lower() bool { return u == UnitOPM || u == UnitIOPS }

// Verdict is a limit and how the measured figure stands to it.
type Verdict struct {
	Limit    string   `json:"limit"`
	Unit     Unit     `json:"unit"`
	Bound    float64  `json:"bound"`              // in Unit
	Measured *float64 `json:"measured"`           // in Unit; null where the window has no sample
	AtLeast  bool     `json:"at_least,omitempty"` // Measured is a lower bound
	// Low and High are the 95 % interval of the figure, of several runs of its mean; absent where
	// what was seen is judged: of faults, of maxima, and of what has too few parts for an interval.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// CannotTell says that the bound lies in the interval: OK is then of what was seen, as the
	// documents of a benchmark have it.
	CannotTell bool `json:"cannot_tell,omitempty"`
	// never without a sample; a lower bound keeps no upper limit
	OK bool `json:"ok"`

	// Of a limit over several runs: how many there are, and in how many it holds by what was seen.
	// Measured is then that of the worst.
	Runs int `json:"runs,omitempty"`
	Held int `json:"runs_held,omitempty"`
}

// Verdicts are those of a run, or of several, in the order of their limits.
type Verdicts []Verdict

// Kept says that a limit holds by what was seen, wherever the bound lies in the interval.
func (v Verdict) Kept() bool { return v.OK }

// Missed says that a limit does not hold by what was seen.
func (v Verdict) Missed() bool { return !v.OK }

// Holds says that a limit holds, as far as its interval goes.
func (v Verdict) Holds() bool { return v.OK && !v.CannotTell }

// Fails says that a limit fails, as far as its interval goes.
func (v Verdict) Fails() bool { return !v.OK && !v.CannotTell }

// Open says that it cannot be told whether a limit holds.
func (v Verdict) Open() bool { return v.CannotTell }

// Which lists the limits that are so, each with its measured value: "order p95 < 500ms (measured
// 612ms)"; empty where none is.
func (verdicts Verdicts) Which(are func(Verdict) bool) string {
	var some []string
	for _, v := range verdicts {
		if are(v) {
			some = append(some, fmt.Sprintf("%s (%s)", v.Limit, v.inBrackets()))
		}
	}
	return strings.Join(some, ", ")
}

// Passed says whether all limits hold.
func (verdicts Verdicts) Passed() bool {
	return !slices.ContainsFunc(verdicts, func(v Verdict) bool { return !v.Holds() })
}

func (v Verdict) inBrackets() string {
	text := "measured " + v.Value()
	if v.Measured == nil {
		text = v.Value()
	}
	if v.Runs > 1 {
		text = fmt.Sprintf("%d of %d runs hold it, %s at worst", v.Held, v.Runs, text)
	}
	if v.CannotTell {
		text += ", 95 % interval " + v.Interval()
	}
	return text
}

// Half is half the width of the interval of a run; nil without one.
func (v Verdict) Half() *float64 {
	if v.High == nil || v.Measured == nil {
		return nil
	}
	return new(*v.High - *v.Measured) // Low is not below 0
}

// Interval gives the 95 % interval in a unit that people read: "298ms to 331ms"; empty without one.
func (v Verdict) Interval() string {
	if v.Low == nil || v.High == nil {
		return ""
	}
	return v.Unit.figure(*v.Low) + " to " + v.Unit.figure(*v.High)
}

// Value gives the measured value in a unit that people read: "312ms", "no samples".
func (v Verdict) Value() string {
	switch {
	case v.Measured == nil:
		return "no samples"
	case v.AtLeast:
		return "at least " + v.Unit.figure(*v.Measured)
	}
	return v.Unit.figure(*v.Measured)
}

// figure gives a value in a unit that people read.
func (u Unit) figure(value float64) string {
	switch u {
	case UnitSeconds:
		return time.Duration(value * float64(time.Second)).Round(time.Microsecond).String()
	case UnitRatio:
		return fmt.Sprintf("%.4g%%", 100*value)
	}
	// down, so that a figure below its lower limit does not seem to meet it
	if value >= 10_000 {
		return fmt.Sprintf("%.0f", math.Floor(value))
	}
	return fmt.Sprintf("%.1f", math.Floor(10*value)/10)
}
