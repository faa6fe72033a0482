package report

import (
	"fmt"
	"math"
	"path/filepath"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// GateVerdict is what a gate says of one configuration against the first.
type GateVerdict struct {
	Gate    string         `json:"gate"`
	Name    string         `json:"name"`
	Against string         `json:"against"`
	Outcome limit.Outcome  `json:"outcome"`
	Change  measure.Change `json:"change"`
	Why     string         `json:"why"`
}

// Judge holds the changes of every configuration against the first to gates. Figures other than OPM are read from the
// records of the runs that count.
func (c *Comparison) Judge(gates []limit.Gate) error {
	first := c.Configurations[0]
	for _, gate := range gates {
		before, err := valuesOf(first, gate.Metric)
		if err != nil {
			return err
		}
		for _, other := range c.Configurations[1:] {
			after, err := valuesOf(other, gate.Metric)
			if err != nil {
				return err
			}
			v := GateVerdict{Gate: gate.String(), Name: other.Name, Against: first.Name, Outcome: limit.GateOpen,
				Change: measure.Change{Percent: math.NaN(), Low: math.NaN(), High: math.NaN(), P: math.NaN()}}
			if len(before) > 0 && len(after) > 0 {
				v.Change = measure.Compare(before, after)
				v.Outcome = gate.Judge(v.Change)
			}
			v.Why = v.why(gate.Metric, len(before), len(after))
			c.Gates = append(c.Gates, v)
		}
	}
	return nil
}

func (v GateVerdict) why(m limit.Metric, before, after int) string {
	switch {
	case before == 0 || after == 0:
		return fmt.Sprintf("%s was measured in %d runs of %s and %d of %s", m, before, v.Against, after, v.Name)
	case math.IsNaN(v.Change.Low):
		return fmt.Sprintf("%s changed by %+.1f %%; an interval takes two runs of each that differ, and there are %d and %d", m, v.Change.Percent, before, after)
	}
	return fmt.Sprintf("%s changed by %+.1f %% (95 %% confidence %+.1f %% to %+.1f %%)", m, v.Change.Percent, v.Change.Low, v.Change.High)
}

// Failed says which gates fail, and which cannot tell.
func (c *Comparison) Failed() (failed, open []string) {
	for _, v := range c.Gates {
		text := fmt.Sprintf("%s of %s: %s", v.Gate, v.Name, v.Why)
		switch v.Outcome {
		case limit.GateFailed:
			failed = append(failed, text)
		case limit.GateOpen:
			open = append(open, text)
		}
	}
	return failed, open
}

// valuesOf are the values of a figure in the first window of each run that counts, as far as they were measured and are
// positive.
func valuesOf(c Configuration, m limit.Metric) (values []float64, err error) {
	for _, run := range counted(c.Bench) {
		value, ok := 0.0, false
		if m.Unit() == limit.OPM {
			if run.OPM != nil {
				value, ok = *run.OPM, true
			}
		} else {
			r, err := result.Read(filepath.Join(c.Dir, run.Dir))
			if err != nil {
				return nil, fmt.Errorf("judge %s of %s: %w", m, c.Name, err)
			}
			if len(r.Windows) > 0 {
				figures, err := limit.Of(r.Series, r.Windows[0], r.Host, r.Start, r.Machine)
				if err != nil {
					return nil, err
				}
				value, ok = figures(m)
			}
		}
		if ok && value > 0 {
			values = append(values, value)
		}
	}
	return values, nil
}

func gateTable(c Comparison) table {
	t := table{Caption: "Gates", Head: []string{"configuration", "fails if", "outcome", "because"}, Words: true}
	for _, v := range c.Gates {
		t.Rows = append(t.Rows, []string{v.Name, v.Gate, string(v.Outcome), v.Why})
	}
	return t
}
