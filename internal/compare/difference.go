package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// Difference is by how much one figure of a configuration differs from that of the first. Percent,
// its confidence interval and P are those of measure.Differences over the blocks of one experiment,
// else those of measure.Compare over the runs that count, in which the figure was measured;
// interval and P are absent where those were too few. Of a figure, the intervals of all
// configurations hold together in 95 %.
type Difference struct {
	Name    string  `json:"name"`
	Against string  `json:"against"`
	Metric  Metric  `json:"-"`
	Figure  string  `json:"figure"` // the metric's name, such as opm, or a cost per order
	Percent float64 `json:"percent"`
	Blocks  int     `json:"blocks,omitempty"` // of one experiment in which both were measured
	Why     string  `json:"why,omitempty"`    // interval and P are absent
	// more blocks are to come: the interval is one of 99.9 %
	Interim     bool     `json:"interim,omitempty"`
	Low         *float64 `json:"low_pct,omitempty"`
	High        *float64 `json:"high_pct,omitempty"`
	P           *float64 `json:"p,omitempty"`
	Significant *bool    `json:"significant,omitempty"` // at Level
	// Medians is the difference of the medians of the runs, in percent: the storage report's figure
	// (WORKLOAD.md section 6). It need not lie within the interval, which is that of Percent.
	Medians float64 `json:"medians_pct"`
}

// Level is that of the 95 % confidence interval.
const Level = 0.05

// widestNone is the largest difference, in percent, that an interval may hold where none is said to
// be found: two arrays of which one does half as much again are not alike.
const widestNone = 50

// Blind says that the runs show no difference, and leave room for a large one.
func (d Difference) Blind() bool {
	return d.Significant != nil && !*d.Significant &&
		max(100+*d.High, 100*100/(100+*d.Low)) > 100+widestNone
}

// mostOfInterval is the ratio of its ends from which on an interval that holds no difference says
// nothing.
const mostOfInterval = 10

// IntervalText is the interval of the difference in words, also where it is of no use.
func (d Difference) IntervalText() string {
	if *d.Low <= 0 && *d.High >= 0 && 100+*d.High > mostOfInterval*(100+*d.Low) {
		return fmt.Sprintf("wider than × %d: cannot tell", mostOfInterval)
	}
	return d.PercentText(*d.Low) + " to " + d.PercentText(*d.High)
}

// Between is the difference of two values of one measurement each, of unknown variation.
func Between(before, after float64) Difference {
	return Difference{Percent: 100 * (after/before - 1)}
}

// Of is the difference of a configuration in a metric; nil where that was not measured.
func (c Comparison) Of(name, metric string) *Difference {
	for i, d := range c.Differences {
		if d.Name == name && d.Metric.Name == metric {
			return &c.Differences[i]
		}
	}
	return nil
}

// Ratio is that of the larger figure to the smaller one.
func (d Difference) Ratio() float64 {
	ratio := 1 + d.Percent/100
	return max(ratio, 1/ratio)
}

// WithFirst compares each configuration with the first. What the subject names may differ.
func WithFirst(all []Configuration, subject ...string) Comparison {
	c := Comparison{Configurations: all, Differences: []Difference{}}
	if len(all) == 0 {
		return c
	}
	c.findUnlike(subject) // the first that a reader has to know
	for _, one := range all {
		if why := valuesOf(one, result.BenchRun.Value).noRatio(); why != "" {
			c.add(result.NoRatio, one.Unit()+": "+why, one.Name, "")
		}
		c.Findings = append(c.Findings, named(one)...)
	}
	first := all[0]
	found := make([][]values, len(Metrics))
	differences := make([][]measure.Difference, len(Metrics))
	for m, f := range Metrics {
		for _, one := range all {
			found[m] = append(found[m], valuesOf(one, f.Of))
		}
		if len(found[m][0].values) > 0 {
			differences[m] = differencesOf(found[m])
		}
	}
	for i, other := range all[1:] {
		known := map[string]bool{}
		for m, f := range Metrics {
			x := found[m][0]
			y := found[m][i+1]
			if len(x.values) == 0 || len(y.values) == 0 {
				continue
			}
			before := measure.Median(x.values)
			after := measure.Median(y.values)
			if before <= 0 {
				continue // of which nothing is a share
			}
			by := differences[m][i]
			// Orders that were dropped would have waited longest, nobody knows how long.
			if f.Bound(first) || f.Bound(other) {
				by = doubtDifference("only a lower bound is known, because the open loop dropped " +
					c.Words().Cycles)
			}
			// An open loop that keeps up completes what it is offered, on any array.
			if flag := rateFlag(all); flag != "" && f.repeatsRate() {
				by = doubtDifference(fmt.Sprintf("the user set it (%s)", flag))
			}
			// What the runs of a side share is in none of their differences, which alone make the
			// interval.
			if f.Name == Main {
				shared := math.Hypot(sharedShare(first.Bench), sharedShare(other.Bench))
				by.Change = by.Change.Widened(shared)
			}
			// A ratio to watts is no surer than the watts: where these have no interval, it has
			// none.
			if f.From != "" && !known[f.From] {
				by.Change.Low = math.NaN()
			}
			known[f.Name] = !math.IsNaN(by.Change.Low)
			by.Base = first.Name
			by.Other = other.Name
			d := newDifference(first, f, by)
			d.Interim = by.Blocks > 0 && (interim(first) || interim(other))
			d.Medians = Between(before, after).Percent
			if math.IsNaN(d.Percent) {
				d.Percent = d.Medians
			}
			c.Differences = append(c.Differences, d)
		}
		if c.Stated().Name == Main && (Bottleneck(first.Bench) == diagnose.Storage ||
			Bottleneck(other.Bench) == diagnose.Storage) {
			if p := partsOf(first, other); p != nil {
				c.Parts = append(c.Parts, *p)
				c.findUnlikeReads(*p)
			}
		}
	}
	c.findDifferences()
	for _, other := range all[1:] {
		if d := c.Doubt(first.Name, other.Name); d == nil || Mild(*d) {
			c.findHeld(first, other)
		}
	}
	return c
}

// newDifference is one from the first configuration as it was measured, with its interval where
// that is known.
func newDifference(first Configuration, of Metric, by measure.Difference) Difference {
	d := Difference{
		Name: by.Other, Against: by.Base, Metric: of, Figure: first.Named(of.Name),
		Percent: by.Change.Percent, Blocks: by.Blocks, Why: by.Why,
	}
	if change := by.Change; !math.IsNaN(change.Low) {
		d.Low = &change.Low
		d.High = &change.High
		d.P = &change.P
		d.Significant = new(change.Significant())
	}
	return d
}

// findHeld finds what a difference of OPM is worth where one of the configurations was not held
// back by its storage. The ratio of two rates is that of two arrays only where both were what
// limited them. Where the slower one was, and the CPUs, say, held the faster one, that could have
// done more: the end of the interval next to no difference is then a bound on what its storage
// does. Where the slower one was not, nothing is said of any storage.
func (c *Comparison) findHeld(first, other Configuration) {
	opm := c.Of(other.Name, Main)
	if opm == nil || c.Stated().Name != Main {
		return
	}
	slower := first
	faster := other
	bound := opm.Low
	least := "at least"
	if opm.Percent < 0 {
		slower = other
		faster = first
		bound = opm.High
		least = "at most"
	}
	bySlower := Bottleneck(slower.Bench)
	byFaster := Bottleneck(faster.Bench)
	if bySlower == "" || byFaster == "" ||
		bySlower == diagnose.Storage && byFaster == diagnose.Storage {
		return
	}
	limited := fmt.Sprintf("%s was limited by %s", faster.Name, diagnose.LimitedBy[byFaster])
	text := fmt.Sprintf("%s, so the storage of %s may be faster than this shows", limited,
		faster.Name)
	switch {
	case bySlower != diagnose.Storage:
		text = fmt.Sprintf(
			"%s of %s: the difference says little about the storage: %s was limited by %s",
			first.Unit(), other.Name, slower.Name, diagnose.LimitedBy[bySlower])
	case bound != nil:
		text = fmt.Sprintf("the storage of %s alone makes %s %s %s (%s confidence): %s",
			other.Name, least, opm.PercentText(*bound), first.Unit(), opm.Confidence(), limited)
	}
	c.add(result.NotOfStorage, text, other.Name, first.Name)
}

// looksOf is what the looks at an experiment cost the intervals of its benches.
func looksOf(c Configuration) float64 { return measure.Looks(c.Until > 0, c.Looks, !interim(c)) }

// interim says that more runs may come, so that the intervals are those of an early look: the
// experiment is not done, whatever ended it.
func interim(c Configuration) bool {
	return c.unfinished || c.Status == result.Running || c.Status == result.Interrupted
}

// Confidence is what the interval has.
func (d Difference) Confidence() string {
	if d.Interim {
		return "interim, 99.9 %"
	}
	return "95 %"
}

// Confidence is what the intervals of the differences have: "95 %".
func (c Comparison) Confidence() string {
	return Difference{Interim: slices.ContainsFunc(c.Differences, func(d Difference) bool {
		return d.Low != nil && d.Interim
	})}.Confidence()
}

// differencesOf are those of configurations' values from those of the first: by blocks where one
// experiment made both in blocks, else by Welch's t-test. All intervals of a table hold together,
// and where three or more configurations vary alike, all of them tell the error of each.
func differencesOf(all []values) (found []measure.Difference) {
	first := all[0]
	stated := measure.WithFirst(len(all))
	var names []string
	var blocks []measure.RunFigure
	for _, v := range all {
		names = append(names, v.Name)
		// One drift is estimated for all that ran in these blocks. A configuration with a run of
		// zero has no logarithm and takes no part.
		if v.Experiment == first.Experiment && v.noRatio() == "" {
			blocks = append(blocks, v.byBlock()...)
		}
	}
	byLooks := map[float64][]measure.Difference{}
	for i, other := range all[1:] {
		why := cmp.Or(first.noRatio(), other.noRatio())
		switch {
		case why != "":
			found = append(found, doubtDifference(why))
		case first.Experiment != "" && first.Experiment == other.Experiment &&
			len(first.byBlock()) > 0 && len(other.byBlock()) > 0:
			looks := max(looksOf(first.Configuration), looksOf(other.Configuration))
			if byLooks[looks] == nil {
				byLooks[looks] = measure.Differences(names, blocks, stated, looks)
			}
			found = append(found, byLooks[looks][i])
		default:
			found = append(found, differenceApart(first, other, stated))
		}
	}
	return found
}

// differenceApart is that of two configurations' values which were not made in blocks.
func differenceApart(before, after values, stated measure.Family) measure.Difference {
	change := measure.Compare(before.values, after.values, stated)
	why := "that needs two runs of each, with different values"
	switch {
	case interim(before.Configuration) && !Enough(before.Bench) ||
		interim(after.Configuration) && !Enough(after.Bench):
		// whoever looks again and again finds something in the end
		percent := change.Percent
		change = measure.Unknown()
		change.Percent = percent
		why = "the planned runs are not all made"
	case before.Days != nil:
		change = measure.CompareDay(before.values, measure.GeometricMean(after.values))
		why = "that needs two days in the history, with different values"
	}
	if !math.IsNaN(change.Low) {
		why = ""
	}
	return measure.Difference{Change: change, Why: why}
}

// doubtDifference is a difference of which nothing is known, with the reason.
func doubtDifference(why string) measure.Difference {
	return measure.Difference{Change: measure.Unknown(), Why: why}
}

// Text is the difference in words: "+38 % (95 % confidence +31 to +45 %, p = 9.8e-05, significant
// at 0.05); medians +35 %".
func (d Difference) Text() string {
	if d.Low == nil {
		why := cmp.Or(d.Why, "one of its terms does not vary")
		return fmt.Sprintf("%s (significance unknown: %s)", d.PercentText(d.Percent), why)
	}
	paired := ""
	if d.Blocks > 0 {
		paired = fmt.Sprintf(", paired in %d blocks", d.Blocks)
	}
	return fmt.Sprintf("%s (%s confidence %s, %s%s); medians %s", d.PercentText(d.Percent),
		d.Confidence(), d.IntervalText(), measure.Significance(*d.P, Level), paired,
		d.PercentText(d.Medians))
}

// PercentText prints a percentage of this difference, with as many digits as the width of its
// interval carries, and at most one decimal.
func (d Difference) PercentText(v float64) string {
	width := 10. // without an interval whole percents
	if d.Low != nil {
		width = max(1, *d.High-*d.Low)
	}
	text := numbers.Worth(v, width) + " %"
	switch { // what rounds to nothing has no direction
	case strings.Trim(text, "-0. %") == "":
		return "+0 %"
	case v > 0:
		return "+" + text
	}
	return text
}

// FactorText prints a percentage of this difference as a factor: "2.51 ×".
func (d Difference) FactorText(percent float64) string {
	factor := 1 + percent/100
	if d.Low == nil {
		return numbers.Times(factor)
	}
	return numbers.Worth(factor, max(10, *d.High-*d.Low)/100) + " ×"
}
