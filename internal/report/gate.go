package report

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"ds2/internal/conclude"
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

// Judge holds the changes of every configuration against the first to gates. The figures are those of the
// records of the runs that count.
func (c *Comparison) Judge(gates []limit.Gate) error {
	for _, gate := range gates {
		var all []values
		for _, one := range c.Configurations {
			of, err := measured(one, gate.Metric)
			if err != nil {
				return err
			}
			all = append(all, of)
		}
		for _, after := range all[1:] {
			v := judge(gate, all[0], after, all)
			if doubt := c.doubt(v.Against, v.Name); doubt != nil && !gate.Counted() {
				v.Outcome = limit.GateOpen
				v.Why += fmt.Sprintf("; %s: %s", doubt.What, doubt.Why)
			}
			c.Gates = append(c.Gates, v)
		}
	}
	return nil
}

func judge(gate limit.Gate, before, after values, all []values) GateVerdict {
	v := GateVerdict{Gate: gate.String(), Name: after.Name, Against: before.Name,
		Outcome: limit.GateOpen, Change: measure.Unknown()}
	if before.measured() == 0 || after.measured() == 0 {
		v.Why = fmt.Sprintf("%s was measured in %d runs of %s and %d of %s",
			gate.Metric, before.measured(), before.Name, after.measured(), after.Name)
		return v
	}
	if gate.Counted() {
		v.Change = measure.CompareCounts(before.rates, after.rates)
		v.Outcome = gate.Judge(v.Change)
		was, is := measure.SumRates(before.rates), measure.SumRates(after.rates)
		v.Why = fmt.Sprintf("%s: %s before, %s after", gate.Metric, rateText(was), rateText(is))
		switch {
		case is.Count == 0 && gate.Rising(): // none is no rise, whatever there was before
			v.Outcome = limit.GatePassed
		case math.IsNaN(v.Change.Low):
			v.Why += "; an interval takes two runs of each"
		default:
			v.Why += fmt.Sprintf(" (95 %% confidence of the change %s)", interval(v.Change, exactly))
		}
		return v
	}
	by := difference(before, after, all)
	v.Change = by.Change
	v.Outcome = gate.Judge(v.Change)
	noInterval, what := by.Why, "blocks"
	if by.Blocks == 0 && !math.IsNaN(by.Change.Percent) {
		what = "runs of each"
		noInterval = fmt.Sprintf("an interval takes two runs of each that differ, and there are %d and %d",
			len(before.values), len(after.values))
	}
	switch {
	case math.IsNaN(v.Change.Percent):
		v.Why = fmt.Sprintf("the change of %s is not known: %s", gate.Metric, noInterval)
	case math.IsNaN(v.Change.Low):
		v.Why = fmt.Sprintf("%s changed by %+.1f %%; %s", gate.Metric, v.Change.Percent, noInterval)
	default:
		v.Why = fmt.Sprintf("%s changed by %+.1f %% (95 %% confidence %s)",
			gate.Metric, v.Change.Percent, interval(v.Change, exactly))
		if v.Outcome == limit.GateOpen {
			v.Why += shown(gate, v.Change, cmp.Or(by.Blocks, min(before.measured(), after.measured())), what)
		}
	}
	return v
}

func rateText(r measure.Rate) string { return number(r.Count, 0) + " of " + number(r.Of, 0) }

// shown says what a change that a gate cannot judge could have shown, and how much more would do.
func shown(gate limit.Gate, c measure.Change, n int, what string) string {
	least := c.Detectable()
	if math.IsNaN(least) || c.Low <= 0 && wide(c) {
		return ""
	}
	if !gate.Rising() {
		least = -least
	}
	text := fmt.Sprintf(
		"; the smallest change that these runs could have shown is %+.1f %%, in 8 of 10 such comparisons",
		100*math.Expm1(math.Log1p(gate.Percent/100)+least))
	if more := c.More(gate.Percent, n); gate.Percent != 0 && more > 0 {
		text += fmt.Sprintf("; with %d more %s a change of %+g %% can be told from none", more, what, gate.Percent)
	}
	return text
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

// Figures are those that comparisons of runs with these words print, besides those that limits know: for gates.
func Figures(words result.Words) (names []string) {
	for _, f := range figures {
		if f.name != mainFigure && f.name != "order_p95_ms" {
			names = append(names, f.titleIn(words.Unit, words))
		}
	}
	return names
}

// measured are the values of a figure in the first window of each run that counts; of a count also those that are 0.
func measured(c Configuration, m limit.Metric) (values, error) {
	for _, f := range figures {
		if f.titleIn(c.Unit(), c.Words) == m.Subject {
			return valuesOf(c, f.run), nil
		}
	}
	var bad error
	var rates []measure.Rate
	all := valuesOf(c, func(run result.BenchRun) *float64 {
		if f := run.Figure; f != nil && strings.EqualFold(f.Unit, string(m.Unit())) {
			return &f.Value
		}
		r, err := c.Read.Run(filepath.Join(c.Dir, run.Dir))
		if err != nil {
			bad = fmt.Errorf("judge %s of %s: %w", m, c.Name, err)
			return nil
		}
		if len(r.Windows) == 0 {
			return nil
		}
		if m.Counted() {
			if rate := limit.CountOf(m, r.Windows[0]); rate.Of > 0 {
				rates = append(rates, rate)
			}
			return nil
		}
		figures, err := conclude.Figures(c.Read.Input(r), r.Windows[0])
		if err != nil {
			bad = err
			return nil
		}
		if v, _, ok := figures(m); ok {
			return &v
		}
		return nil
	})
	all.rates = rates
	return all, bad
}

func gateTable(c Comparison) table {
	t := newWords("Gates", "configuration", "fails if", "outcome", "because")
	for _, v := range c.Gates {
		t.row(v.Name, v.Gate, string(v.Outcome), v.Why)
	}
	return t
}
