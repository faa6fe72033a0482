package result

import (
	"fmt"
	"math"
	"slices"
	"strconv"
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
	// never without a sample; a lower bound keeps no upper limit
	OK bool `json:"ok"`

	// Of a limit over several runs, which holds if it holds in all: how many there are, and in how
	// many it holds. Measured is then that of the worst.
	Runs int `json:"runs,omitempty"`
	Held int `json:"runs_held,omitempty"`
}

// Verdicts are those of a run, or of several, in the order of their limits.
type Verdicts []Verdict

// Passed says whether all limits hold.
func (verdicts Verdicts) Passed() bool {
	return !slices.ContainsFunc(verdicts, func(v Verdict) bool { return !v.OK })
}

// Failed lists the limits that do not hold, each with its measured value: "order p95 < 500ms
// (measured 612ms)".
func (verdicts Verdicts) Failed() string {
	var failed []string
	for _, v := range verdicts {
		if !v.OK {
			failed = append(failed, fmt.Sprintf("%s (%s)", v.Limit, v.inBrackets()))
		}
	}
	return strings.Join(failed, ", ")
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
	value := *v.Measured
	least := ""
	if v.AtLeast {
		least = "at least "
	}
	switch v.Unit {
	case UnitSeconds:
		return least + time.Duration(value*float64(time.Second)).Round(time.Microsecond).String()
	case UnitRatio:
		return strconv.FormatFloat(100*value, 'g', 4, 64) + "%"
	}
	// down, so that a figure below its lower limit does not seem to meet it
	if value >= 10_000 {
		return strconv.FormatFloat(math.Floor(value), 'f', 0, 64)
	}
	return strconv.FormatFloat(math.Floor(10*value)/10, 'f', 1, 64)
}
