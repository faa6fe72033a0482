package limit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ds2/internal/measure"
)

// Gate is a change of a figure that must not be: "opm < -2.5%" is OPM that falls by more than 2.5 %.
type Gate struct {
	Metric
	Compare Comparison
	Percent float64
	text    string
}

// String gives the gate as it was written, with single blanks.
func (g Gate) String() string { return g.text }

// ParseGate reads one gate: a figure as in a limit, a comparison, and a change in percent such as -2.5%. Its errors are
// of type *SyntaxError. The operations are as in Parse; figures are further ones that are compared, such as "active
// power".
func ParseGate(text string, figures []string, operations ...string) (Gate, error) {
	p := &parser{text: text, operations: operations}
	metric := Metric{}
	if sign := strings.IndexFunc(text, isSign); sign >= 0 {
		name := strings.Join(strings.Fields(text[:sign]), " ")
		if i := slices.IndexFunc(figures, func(f string) bool { return strings.EqualFold(f, name) }); i >= 0 {
			metric.Subject, p.pos = figures[i], sign
		}
	}
	if metric.Subject == "" {
		var err error
		if metric, err = p.metric(); err != nil {
			return Gate{}, err
		}
	}
	compare := Comparison(p.next(isSign))
	switch compare {
	case Below, AtMost, Above, AtLeast:
	default:
		return Gate{}, p.fail("compare the change with <, <=, > or >=")
	}
	number := p.next(func(r rune) bool { return isDigit(r) || r == '-' || r == '+' })
	percent, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return Gate{}, p.fail("write by how many percent the figure changes, such as -2.5%%")
	}
	if p.next(isUnit) != "%" {
		return Gate{}, p.fail("a change needs a percent sign, such as %s%%", number)
	}
	if p.next(func(rune) bool { return true }) != "" {
		return Gate{}, p.fail("the change ends before this; give --fail-if once for each")
	}
	return Gate{metric, compare, percent, fmt.Sprintf("%s %s %s%%", metric, compare, number)}, nil
}

// Outcome is what a gate says of a change.
type Outcome string

// The outcomes. A change whose confidence interval holds the bound may lie on either side of it.
const (
	GateFailed Outcome = "failed"
	GatePassed Outcome = "passed"
	GateOpen   Outcome = "cannot tell"
)

// Judge fails a change only where its whole confidence interval does what the gate names, and passes it only where none
// of the interval does.
func (g Gate) Judge(c measure.Change) Outcome {
	low, high := g.Compare.holds(c.Low, g.Percent), g.Compare.holds(c.High, g.Percent)
	switch {
	case math.IsNaN(c.Low) || math.IsNaN(c.High) || low != high:
		return GateOpen
	case low:
		return GateFailed
	}
	return GatePassed
}

// Rising says that the gate is on a rise, as of errors, and not on a fall, as of OPM.
func (g Gate) Rising() bool { return g.Compare == Above || g.Compare == AtLeast }
