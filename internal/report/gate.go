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
		before, err := measured(first, gate.Metric)
		if err != nil {
			return err
		}
		for _, other := range c.Configurations[1:] {
			after, err := measured(other, gate.Metric)
			if err != nil {
				return err
			}
			v := GateVerdict{Gate: gate.String(), Name: other.Name, Against: first.Name, Outcome: limit.GateOpen,
				Change: measure.Change{Percent: math.NaN(), Low: math.NaN(), High: math.NaN(), P: math.NaN()}}
			why := fmt.Sprintf("an interval takes two runs of each that differ, and there are %d and %d", len(before.values), len(after.values))
			if len(before.values) > 0 && len(after.values) > 0 {
				by := difference(before, after)
				if by.Blocks > 0 || math.IsNaN(by.Change.Percent) {
					why = by.Why
				}
				v.Change = by.Change
				v.Outcome = gate.Judge(v.Change)
			}
			v.Why = v.why(gate.Metric, len(before.values), len(after.values), why)
			c.Gates = append(c.Gates, v)
		}
	}
	return nil
}

func (v GateVerdict) why(m limit.Metric, before, after int, noInterval string) string {
	switch {
	case before == 0 || after == 0:
		return fmt.Sprintf("%s was measured in %d runs of %s and %d of %s", m, before, v.Against, after, v.Name)
	case math.IsNaN(v.Change.Percent):
		return fmt.Sprintf("the change of %s is not known: %s", m, noInterval)
	case math.IsNaN(v.Change.Low):
		return fmt.Sprintf("%s changed by %+.1f %%; %s", m, v.Change.Percent, noInterval)
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

// measured are the values of a figure in the first window of each run that counts.
func measured(c Configuration, m limit.Metric) (values, error) {
	if m.Unit() == limit.OPM {
		return valuesOf(c, func(r result.BenchRun) *float64 { return r.OPM }), nil
	}
	var bad error
	all := valuesOf(c, func(run result.BenchRun) *float64 {
		r, err := result.Read(filepath.Join(c.Dir, run.Dir))
		if err != nil {
			bad = fmt.Errorf("judge %s of %s: %w", m, c.Name, err)
			return nil
		}
		if len(r.Windows) == 0 {
			return nil
		}
		figures, err := limit.Of(r.Words.Or().Cycle, r.Series, r.Windows[0], r.Host, r.Start, r.Machine)
		if err != nil {
			bad = err
			return nil
		}
		if v, ok := figures(m); ok {
			return &v
		}
		return nil
	})
	return all, bad
}

func gateTable(c Comparison) table {
	t := table{Caption: "Gates", Head: []string{"configuration", "fails if", "outcome", "because"}, Words: true}
	for _, v := range c.Gates {
		t.Rows = append(t.Rows, []string{v.Name, v.Gate, string(v.Outcome), v.Why})
	}
	return t
}
