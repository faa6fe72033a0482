// Package limit reads limits such as "order p95 < 500ms" and judges measured figures by them: they
// hold, fail, or cannot be told by the interval of the value beside them. It is the verdict of
// Jetstress (WORKLOAD.md section 7) for any run of the kit. What a figure is and over which window
// it was taken belongs to whoever measured it; see [Figures].
package limit

import (
	"cmp"
	"strconv"
	"strings"

	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// Metric names one measured figure.
type Metric struct {
	// Subject is what a workload calls one of its operations, several of them or their cycle, such
	// as "order"; "device", "data" or "log" with "read" or "write", the latter two also with
	// "flush"; "errors", "dropped", "opm" or "iops".
	Subject string

	// Stat is "mean", "max" or a percentile such as "p95" or "p99.9"; empty for errors, dropped,
	// opm and iops.
	Stat string
}

// String gives the metric as it is written in a limit.
func (m Metric) String() string {
	if m.Stat == "" {
		return m.Subject
	}
	return m.Subject + " " + m.Stat
}

// IsOperation says that the figure is one of a workload's operations.
func (m Metric) IsOperation() bool {
	_, common := subjects[m.Subject]
	return !common
}

// asSeen says that the figure is judged by what was seen, and not by what a run would have in the
// long run: faults are counted, and a maximum has no such value.
func (m Metric) asSeen() bool {
	return m.Subject == "errors" || m.Subject == "dropped" || m.Stat == "max"
}

// Unit is what the figure is counted in.
func (m Metric) Unit() result.Unit { return cmp.Or(subjects[m.Subject].unit, operation.unit) }

// Limit is one bound on one figure.
type Limit struct {
	Metric
	Compare Comparison
	Bound   float64 // in the metric's unit
	text    string
}

// Comparison is how a figure has to stand to its bound.
type Comparison string

// The comparisons. A latency and a share have an upper limit, a rate a lower one.
const (
	Below   Comparison = "<"
	AtMost  Comparison = "<="
	Above   Comparison = ">"
	AtLeast Comparison = ">="
)

// holdsFor compares a value with a bound in the same unit. Of NaN, which is not known, none holds.
func (c Comparison) holdsFor(value, bound float64) bool {
	switch c {
	case Below:
		return value < bound
	case AtMost:
		return value <= bound
	case Above:
		return value > bound
	}
	return value >= bound
}

// String gives the limit as it was written, with single blanks.
func (l Limit) String() string { return l.text }

// subject is what may stand first in a limit, and how its figures are taken.
type subject struct {
	unit result.Unit
	// each operation is a sample; a device has one figure a second, so mean and max only
	percentiles bool
	// that the drives' counters have mean and maximum of; nil: they do not
	io *sampling.IOKind
}

// subjects are those that no workload adds. The maxima of data and log are over means of 15 s, as
// Jetstress takes them (WORKLOAD.md section 7).
var subjects = map[string]subject{
	"device read": {unit: result.UnitSeconds, io: &sampling.IOKind{Over: sampling.Interval}},
	"device write": {
		unit: result.UnitSeconds,
		io:   &sampling.IOKind{Write: true, Over: sampling.Interval},
	},
	"data read":  ofRole(topology.Data, false),
	"data write": ofRole(topology.Data, true),
	"data flush": {unit: result.UnitSeconds, percentiles: true},
	"log read":   ofRole(topology.Log, false),
	"log write":  ofRole(topology.Log, true),
	"log flush":  {unit: result.UnitSeconds, percentiles: true},
	"iops":       {unit: result.UnitIOPS},
	"errors":     {unit: result.UnitRatio},
	"dropped":    {unit: result.UnitRatio},
	"opm":        {unit: result.UnitOPM},
}

// ofRole is a kind of I/O of the drives that hold the data, or the log.
func ofRole(role topology.Role, write bool) subject {
	return subject{
		result.UnitSeconds,
		true,
		&sampling.IOKind{Role: role, Write: write, Over: sampling.VerdictMeans},
	}
}

// operation is a subject that a workload adds.
var operation = subject{unit: result.UnitSeconds, percentiles: true}

// Traced says that the figure is known only where I/Os are traced: a percentile of a drive's, and
// all of flushes. The mean and the maximum of reads and writes are those of the drives' counters.
func (m Metric) Traced() bool {
	_, isPercentile := percentile(m.Stat)
	s := subjects[m.Subject]
	return s.percentiles && (isPercentile || s.io == nil)
}

// percentile reads p95 as 0.95; false where text is no percentile between 0 and 100.
func percentile(text string) (float64, bool) {
	digits, found := strings.CutPrefix(text, "p")
	if !found || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	p, err := strconv.ParseFloat(digits, 64)
	return p / 100, err == nil && p > 0 && p < 100
}
