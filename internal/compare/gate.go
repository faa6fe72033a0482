package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ds2/internal/numbers"
	"ds2/internal/result"
)

// Gate is a change of one compared figure that must not be, such as "opm < -5 %", which is OPM that
// falls by more than 5 %; or "errors > 0".
type Gate struct {
	text, figure string
	above        bool
	bound        float64 // percent; of errors, how many
}

// errorGate is the one figure of a gate that is counted and not compared.
const errorGate = "errors"

var gateForm = regexp.MustCompile(`^\s*(.+?)\s*([<>])\s*([-+]?[0-9]+(?:\.[0-9]+)?)\s*(%?)\s*$`)

// ParseGate reads a gate.
func ParseGate(text string) (Gate, error) {
	parts := gateForm.FindStringSubmatch(text)
	if parts == nil || (parts[4] == "") != strings.EqualFold(parts[1], errorGate) {
		return Gate{}, fmt.Errorf(
			"invalid gate %q: write a figure, < or >, and a change in percent, "+
				"such as 'opm < -5 %%', or 'errors > 0'",
			text,
		)
	}
	bound, err := strconv.ParseFloat(parts[3], 64)
	if err != nil {
		return Gate{}, fmt.Errorf("invalid gate %q: %w", text, err)
	}
	return Gate{strings.TrimSpace(text), strings.ToLower(parts[1]), parts[2] == ">", bound}, nil
}

// Outcome is what a gate says of a change.
type Outcome string

// The outcomes. A change whose confidence interval holds the bound may lie on either side of it.
const (
	GateFailed Outcome = "failed"
	GatePassed Outcome = "passed"
	GateOpen   Outcome = "cannot tell"
)

// outcome is that of a change between two values.
func (g Gate) outcome(low, high float64) Outcome {
	fails := func(v float64) bool { return g.above && v > g.bound || !g.above && v < g.bound }
	switch {
	case fails(low) != fails(high):
		return GateOpen
	case fails(low):
		return GateFailed
	}
	return GatePassed
}

// GateVerdict is what a gate says of one configuration against the first.
type GateVerdict struct {
	Gate    string  `json:"gate"`
	Name    string  `json:"name"`
	Against string  `json:"against"`
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why"`
}

// Judge holds every configuration to a gate, by the differences from the first that the comparison
// shows.
func (c *Comparison) Judge(gate Gate) error {
	figure := func(f Metric) bool { return strings.EqualFold(c.Title(f), gate.figure) }
	at := slices.IndexFunc(Metrics, figure)
	if at < 0 && gate.figure != errorGate {
		known := []string{errorGate}
		for _, f := range Metrics {
			known = append(known, c.Title(f))
		}
		return fmt.Errorf(
			"unknown figure %q: figures are %s",
			gate.figure,
			strings.Join(known, "; "),
		)
	}
	first := c.Configurations[0]
	for _, other := range c.Configurations[1:] {
		v := GateVerdict{Gate: gate.text, Name: other.Name, Against: first.Name, Outcome: GateOpen}
		var low, high *float64
		doubt := c.Doubt(first.Name, other.Name)
		if gate.figure == errorGate {
			low, v.Why = errorsOf(other)
			high = low
			doubt = nil
		} else {
			v.Why = gate.figure + " was not measured in counted runs of both"
			if d := c.Of(other.Name, Metrics[at].Name); d != nil {
				low = d.Low
				high = d.High
				v.Why = gate.figure + " changed by " + d.Text()
			}
		}
		switch fails := c.failing(first.Name, other.Name); {
		case fails != nil: // of no gate
			v.Outcome = GateFailed
			v.Why = fails.Words()
		case doubt != nil:
			v.Why += fmt.Sprintf("; %s: %s", doubt.Kind, doubt.Words())
		case low != nil:
			v.Outcome = gate.outcome(*low, *high)
		}
		kinds := map[Outcome]result.FindingKind{
			GateFailed: result.GateFailed, GatePassed: result.GatePassed, GateOpen: result.GateOpen,
		}
		text := fmt.Sprintf("%s of %s: %s", v.Gate, v.Name, v.Why)
		c.add(kinds[v.Outcome], text, v.Name, v.Against)
		c.Gates = append(c.Gates, v)
	}
	return nil
}

// failing is what failed in two configurations; nil where nothing did.
func (c *Comparison) failing(names ...string) *result.Finding {
	for i, f := range c.Findings {
		if f.Effect == result.Fails && slices.Contains(names, f.Configuration) {
			return &c.Findings[i]
		}
	}
	return nil
}

// errorsOf are those of the runs that count; nil where they are not known.
func errorsOf(c Configuration) (sum *float64, why string) {
	runs := Counted(c.Bench)
	if len(runs) == 0 {
		return nil, "no run counts"
	}
	sum = new(0.)
	for _, r := range runs {
		n := Condition(result.FailedAttempts)(r)
		if n == nil {
			return nil, "no errors are recorded of " + r.Dir
		}
		*sum += *n
	}
	return sum, fmt.Sprintf(
		"%s errors in the %d counted runs",
		numbers.Decimals(*sum, 0),
		len(runs),
	)
}
