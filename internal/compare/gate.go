package compare

import (
	"fmt"
	"slices"
	"strings"

	"ds2/internal/limit"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// Outcome is what a gate says of a change.
type Outcome string

// The outcomes. A change whose confidence interval holds the bound may lie on either side of it.
const (
	GateFailed Outcome = "failed"
	GatePassed Outcome = "passed"
	GateOpen   Outcome = "cannot tell"
)

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
func (c *Comparison) Judge(gate limit.Gate) error {
	figure := func(f Metric) bool { return strings.EqualFold(c.Title(f), gate.Figure) }
	at := slices.IndexFunc(Metrics, figure)
	if at < 0 && gate.Figure != limit.ErrorGate {
		known := []string{limit.ErrorGate}
		for _, f := range Metrics {
			known = append(known, c.Title(f))
		}
		return fmt.Errorf("unknown figure %q: figures are %s", gate.Figure,
			strings.Join(known, "; "))
	}
	first := c.Configurations[0]
	for _, other := range c.Configurations[1:] {
		v := GateVerdict{Gate: gate.Text, Name: other.Name, Against: first.Name, Outcome: GateOpen}
		var low, high *float64
		doubt := c.Doubt(first.Name, other.Name)
		// Errors are counted, not estimated: they have no interval, and what makes figures doubtful
		// leaves them.
		if gate.Figure == limit.ErrorGate {
			low, v.Why = errorsOf(other)
			high = low
			doubt = nil
		} else {
			v.Why = gate.Figure + " was not measured in counted runs of both"
			if d := c.Of(other.Name, Metrics[at].Name); d != nil {
				low = d.Low
				high = d.High
				v.Why = gate.Figure + " changed by " + d.Text()
			}
		}
		switch fails := c.failing(first.Name, other.Name); {
		case fails != nil: // of no gate
			v.Outcome = GateFailed
			v.Why = fails.Words()
		case doubt != nil:
			v.Why += fmt.Sprintf("; %s: %s", doubt.Kind, doubt.Words())
		case low == nil || gate.Fails(*low) != gate.Fails(*high): // the bound is in the interval
		case gate.Fails(*low):
			v.Outcome = GateFailed
		default:
			v.Outcome = GatePassed
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

// failing is what failed in two configurations, by which every gate fails: a pipeline is not to go
// on with figures of a database that lost orders. It is nil where nothing did.
func (c *Comparison) failing(names ...string) *result.Finding {
	for i, f := range c.Findings {
		if f.Effect == result.Fails && slices.Contains(names, f.Configuration) {
			return &c.Findings[i]
		}
	}
	return nil
}

// errorsOf are those of the runs that count; nil where they are not known of any one: unknown is
// not none.
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
	return sum, fmt.Sprintf("%s errors in the %d counted runs", numbers.Decimals(*sum, 0),
		len(runs))
}
