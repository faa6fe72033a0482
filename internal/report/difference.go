package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Difference is by how much one figure of a configuration differs from that of the first. Percent, its confidence
// interval and P are those of measure.Differences over the blocks of one experiment, else those of measure.Compare over
// the runs that count, in which the figure was measured; interval and P are absent where those were too few.
type Difference struct {
	Name        string   `json:"name"`
	Against     string   `json:"against"`
	Figure      string   `json:"figure"` // the name of one of figures, such as opm, or a cost of an order
	Percent     float64  `json:"percent"`
	Blocks      int      `json:"blocks,omitempty"` // of one experiment in which both were measured
	Why         string   `json:"why,omitempty"`    // interval and P are absent
	Low         *float64 `json:"low_pct,omitempty"`
	High        *float64 `json:"high_pct,omitempty"`
	P           *float64 `json:"p,omitempty"`
	Significant *bool    `json:"significant,omitempty"` // at differenceLevel
	// Detectable is the smallest difference, upwards, that these runs would have shown in 8 of 10 such comparisons.
	Detectable *float64 `json:"detectable_pct,omitempty"`
	// Medians is the difference of the medians of the runs, in percent: the storage report's figure (WORKLOAD.md
	// section 6). It need not lie within the interval, which is that of Percent.
	Medians float64 `json:"medians_pct"`
}

// differenceLevel is that of the 95 % confidence interval.
const differenceLevel = 0.05

// widestNone is the largest difference, in percent, that may have gone unseen where none is said to be found: two
// arrays of which one does half as much again are alike to nobody.
const widestNone = 50

// blind says that the runs show no difference, and would not have shown a large one either.
func (d Difference) blind() bool {
	return d.Significant != nil && !*d.Significant && d.Detectable != nil && *d.Detectable > widestNone
}

// mostOfInterval is the ratio of its ends from which on an interval that holds no difference says nothing.
const mostOfInterval = 10

func wide(c measure.Change) bool { return 100+c.High > mostOfInterval*(100+c.Low) }

// interval is that of a change, in words where it is of no use.
func interval(c measure.Change, percent func(float64) string) string {
	if c.Low <= 0 && c.High >= 0 && wide(c) {
		return fmt.Sprintf("wider than × %d: cannot tell", mostOfInterval)
	}
	return percent(c.Low) + " to " + percent(c.High)
}

func exactly(percent float64) string { return fmt.Sprintf("%+.1f %%", percent) }

// interval is that of the difference, in words.
func (d Difference) interval() string {
	return interval(measure.Change{Low: *d.Low, High: *d.High}, d.percent)
}

// compared is a figure that is compared.
type compared struct {
	name, title, unit string                         // {unit} and {cycle} in a title are those of the workload
	scale             float64                        // to the unit that it is shown in
	run               func(result.BenchRun) *float64 // its value in a run
	// from names a figure that this one is made of: without scatter of that, the scatter of this one is unknown too.
	from    string
	atLeast func(result.BenchRun) bool // the value is a lower bound; nil: never
}

// The figures that go by the unit of the configurations: "opm" and "opm_per_active_w", or "iops" and so on.
const (
	mainFigure = ""
	perWatt    = "_per_active_w"
)

// named is the name of a figure in records.
func (c Comparison) named(figure string) string {
	if figure == mainFigure || figure == perWatt {
		return strings.ToLower(c.Configurations[0].Unit()) + figure
	}
	return figure
}

func (c Comparison) main() string { return c.named(mainFigure) }

var figures = append([]compared{
	{mainFigure, "{unit}", "", 1, result.BenchRun.Value, "", nil},
	{"order_p95_ms", "{cycle} p95", "ms", 1, func(r result.BenchRun) *float64 { return r.P95 }, "",
		func(r result.BenchRun) bool { return r.P95AtLeast }},
	{"active_w", "active power", "W", 1, func(r result.BenchRun) *float64 { return r.Active }, "", nil},
	{"idle_w", "idle power", "W", 1, func(r result.BenchRun) *float64 { return r.Idle }, "", nil},
	{perWatt, "{unit} per watt", "", 1, func(r result.BenchRun) *float64 { return r.PerWatt() }, "active_w", nil},
	ofCondition("read_latency_ms", result.ReadLatency, "ms", ""),
	ofCondition("log_write_latency_ms", result.LogWriteLatency, "ms", ""),
	ofCondition("processors_pct", result.ServerProcessors, "%", ""),
	ofCondition("total_iops", result.TotalIOPS, "a second", ""),
	ofCondition("mb_per_s", result.Throughput, "a second", ""),
	ofCondition("total_iops_per_active_w", result.TotalIOPSPerWatt, "", "active_w"),
	ofCondition("lost_to_events", result.LostOrders, "", ""),
	ofCondition("back_after_s", result.BackAfter, "s", ""),
	ofCondition("longest_after_event_ms", result.LongestOrder, "ms", ""),
}, costFigures()...)

func ofCondition(name, of, unit, from string) compared {
	return compared{name, of, unit, 1, condition(of), from, nil}
}

func figureNamed(name string) compared {
	return figures[slices.IndexFunc(figures, func(f compared) bool { return f.name == name })]
}

func condition(name string) func(result.BenchRun) *float64 {
	return func(r result.BenchRun) *float64 {
		for _, c := range r.Conditions {
			if c.Name == name {
				return &c.Value
			}
		}
		return nil
	}
}

// Compare compares each configuration with the first.
func Compare(all []Configuration) Comparison {
	c := Comparison{Configurations: all, Differences: []Difference{}}
	for _, one := range all {
		if !limit.Passed(one.Limits) {
			c.Warnings = append(c.Warnings, one.Name+" fails its limits: "+limit.Failed(one.Limits))
		}
		c.Doubts = append(c.Doubts, idle(one)...)
		c.Doubts = append(c.Doubts, drifting(one)...)
	}
	first := all[0]
	for i, other := range all[1:] {
		scattered := map[string]bool{"": true}
		for _, f := range figures {
			found := valuesOfAll(all, f.run)
			x, y := found[0], found[i+1]
			if len(x.values) == 0 || len(y.values) == 0 {
				continue
			}
			before, after := measure.Median(x.values), measure.Median(y.values)
			if before <= 0 {
				continue // of which nothing is a share
			}
			by := difference(x, y, found)
			if x.bounds(f) || y.bounds(f) {
				by = measure.Difference{Change: measure.Unknown(), Why: "it is known to be at least as high only, for " +
					"the open loop dropped " + c.words().Cycles}
			}
			change := by.Change
			d := Difference{
				Name: other.Name, Against: first.Name, Figure: c.named(f.name),
				Percent: change.Percent, Blocks: by.Blocks, Why: by.Why,
				Medians: 100 * (after/before - 1),
			}
			if math.IsNaN(d.Percent) {
				d.Percent = d.Medians
			}
			if scattered[f.name] = !math.IsNaN(change.Low) && scattered[f.from]; scattered[f.name] {
				d.Low, d.High, d.P, d.Significant = &change.Low, &change.High, &change.P, new(change.Significant())
				if least := change.Detectable(); !math.IsNaN(least) {
					d.Detectable = new(100 * math.Expm1(least))
				}
			}
			c.Differences = append(c.Differences, d)
		}
		c.Warnings = append(c.Warnings, unlike(first, other)...)
		if bottleneck(first.Bench) == diagnose.Storage || bottleneck(other.Bench) == diagnose.Storage {
			if p := partsOf(first, other); p != nil {
				c.Parts = append(c.Parts, *p)
				c.Doubts = append(c.Doubts, c.unlikeReads(*p)...)
			}
		}
		if c.doubt(first.Name, other.Name) == nil {
			c.Held = append(c.Held, c.held(first, other)...)
		}
	}
	return c
}

// held says what a difference of OPM is worth where one of the configurations was not held back by its storage.
func (c Comparison) held(first, other Configuration) []string {
	opm := c.of(other.Name, mainFigure)
	if opm == nil {
		return nil
	}
	slower, faster := first, other
	bound, least := opm.Low, "at least"
	if opm.Percent < 0 {
		slower, faster = other, first
		bound, least = opm.High, "at most"
	}
	bySlower, byFaster := bottleneck(slower.Bench), bottleneck(faster.Bench)
	switch {
	case bySlower == "" || byFaster == "" || bySlower == diagnose.Storage && byFaster == diagnose.Storage:
		return nil
	case bySlower != diagnose.Storage:
		return []string{fmt.Sprintf("%s of %s: the difference says little about the storage: %s was limited by %s",
			first.Unit(), other.Name, slower.Name, limitedBy[bySlower])}
	case bound == nil:
		return []string{fmt.Sprintf("The storage of %s alone makes more of a difference: %s was limited by %s",
			other.Name, faster.Name, limitedBy[byFaster])}
	}
	return []string{fmt.Sprintf("The storage of %s alone makes %s %s %s (95 %% confidence): %s was limited by %s",
		other.Name, least, opm.percent(*bound), first.Unit(), faster.Name, limitedBy[byFaster])}
}

// values are those of a figure in the runs of a configuration that count, as far as they were measured.
type values struct {
	Configuration
	runs   []result.BenchRun
	values []float64
}

// noRatio is why the values have none to others; empty where they have. A run is not left out for its value.
func (v values) noRatio() string {
	counted := len(compare.Counted(v.Bench))
	none := 0
	for _, value := range v.values {
		if value <= 0 {
			none++
		}
	}
	switch {
	case len(v.values) < counted:
		return fmt.Sprintf("it was measured in %d of %d runs of %s", len(v.values), counted, v.Name)
	case none > 0:
		return fmt.Sprintf("it is 0 in %d of %d runs of %s", none, counted, v.Name)
	}
	return ""
}

// bounds says that a value is only known to be at least as high, as p95 of an open loop that dropped orders.
func (v values) bounds(f compared) bool {
	return f.atLeast != nil && slices.ContainsFunc(v.runs, f.atLeast)
}

func valuesOf(c Configuration, of func(result.BenchRun) *float64) values {
	all := values{Configuration: c}
	for _, r := range compare.Counted(c.Bench) {
		if v := of(r); v != nil {
			all.runs, all.values = append(all.runs, r), append(all.values, *v)
		}
	}
	return all
}

// looksOf is what the looks at an experiment cost the intervals of its benches.
func looksOf(b result.Bench) float64 {
	return measure.Looks(b.Until > 0, b.Looks, b.Status != result.Running && b.Status != result.Interrupted)
}

func valuesOfAll(all []Configuration, of func(result.BenchRun) *float64) (some []values) {
	for _, c := range all {
		some = append(some, valuesOf(c, of))
	}
	return some
}

// figures are the values by block; none where the runs were not made in blocks.
func (v values) figures() (all []measure.RunFigure) {
	for i, r := range v.runs {
		if r.Block > 0 {
			f := measure.RunFigure{Block: r.Block, Run: r.Number, Configuration: v.Name, Value: v.values[i]}
			all = append(all, f)
		}
	}
	return all
}

// difference is that of two configurations' values: by blocks where one experiment made both in blocks, with the drift
// of all that it made, else by Welch's t-test.
func difference(before, after values, all []values) measure.Difference {
	if why := cmp.Or(before.noRatio(), after.noRatio()); why != "" {
		return measure.Difference{Change: measure.Unknown(), Why: why}
	}
	x, y := before.figures(), after.figures()
	if before.Experiment != "" && before.Experiment == after.Experiment && len(x) > 0 && len(y) > 0 {
		names, blocks := []string{before.Name, after.Name}, slices.Concat(x, y)
		for _, v := range all {
			if v.Experiment == before.Experiment && !slices.Contains(names, v.Name) && v.noRatio() == "" {
				names, blocks = append(names, v.Name), append(blocks, v.figures()...)
			}
		}
		return measure.Differences(names, blocks, max(looksOf(before.Bench), looksOf(after.Bench)))[0]
	}
	d := measure.Difference{Change: measure.Compare(before.values, after.values)}
	if math.IsNaN(d.Change.Low) {
		d.Why = "it takes two runs of each in which it was measured, with scatter"
	}
	return d
}

func (c Comparison) titleOf(figure string) string {
	for _, f := range figures {
		if c.named(f.name) == figure {
			return f.titleIn(c.Configurations[0].Unit(), c.words())
		}
	}
	return figure
}

// titleIn is the figure of configurations that go by a unit, whose workload has these words.
func (f compared) titleIn(unit string, words result.Words) string {
	return strings.NewReplacer("{unit}", unit, "{cycle}", words.Cycle, "{a cycle}", words.A()).Replace(f.title)
}

// Text is the difference in words: "+38 % (95 % confidence +31 to +45 %, p = 9.8e-05, significant at 0.05); medians +35
// %".
func (d Difference) Text() string {
	if d.Low == nil {
		why := cmp.Or(d.Why, "a figure that it is made of has no scatter")
		return fmt.Sprintf("%s (significance unknown: %s)", d.percent(d.Percent), why)
	}
	paired := ""
	if d.Blocks > 0 {
		paired = fmt.Sprintf(", paired in %d blocks", d.Blocks)
	}
	return fmt.Sprintf("%s (95 %% confidence %s, %s%s); medians %s", d.percent(d.Percent), d.interval(),
		measure.Significance(*d.P, differenceLevel), paired, d.percent(d.Medians))
}

// percent prints a percentage of this difference, with as many digits as the width of its interval carries, and at most
// one decimal.
func (d Difference) percent(v float64) string {
	width := 10. // without an interval whole percents
	if d.Low != nil {
		width = max(1, *d.High-*d.Low)
	}
	text := worth(v, width) + " %"
	switch {
	case strings.Trim(text, "-0. %") == "":
		return "+0 %"
	case v > 0:
		return "+" + text
	}
	return text
}

// factor prints a percentage of this difference as a factor: "2.51 ×".
func (d Difference) factor(percent float64) string {
	factor := 1 + percent/100
	if d.Low == nil {
		return times(factor)
	}
	return worth(factor, max(10, *d.High-*d.Low)/100) + " ×"
}
