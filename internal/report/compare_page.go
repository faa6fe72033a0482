package report

import (
	"cmp"
	"ds2/internal/conclude"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// CompareHTML writes the comparison as a page, with the curves of the runs that stand for the configurations laid over
// each other.
func CompareHTML(w io.Writer, c Comparison) error {
	v := compareView(c)
	var err error
	if v.Charts, err = overlays(c, "the run that stands for each configuration"); err != nil {
		return err
	}
	if runs, drawn := runsOfAll(c.Configurations); drawn {
		v.Charts = append([]chart{runs}, v.Charts...)
	}
	return writePage(w, "ds2 comparison", []runView{v})
}

// CompareText writes the comparison for reading on a terminal: the page without its charts.
func CompareText(w io.Writer, c Comparison) error { return writeText(w, compareView(c)) }

// meanOf is the mean of the runs of a bench with its interval from run to run; empty where there is none.
func meanOf(b result.Bench) string {
	if b.RunsCI95 == nil {
		return ""
	}
	return worth(*b.RunsMean, *b.RunsCI95) + " ± " + uncertainty(b.RunsCI95)
}

// compareView is the storage report's table (WORKLOAD.md section 6), the differences, and what is wrong with flagged runs.
func compareView(c Comparison) runView {
	first := c.Configurations[0]
	v := runView{
		ID: "compare", RunID: first.Name,
		Title:   "Against " + first.Name,
		Tables:  []table{comparedTable(c), gateTable(c), differenceTable(c), comparedLimits(c)},
		Details: []table{commandsOf(c)},
		Good:    len(c.Warnings) == 0 && len(c.Doubts) == 0,
	}
	for _, d := range c.Doubts {
		v.Notes = append(v.Notes, sentence(fmt.Sprintf("Cannot tell: %s: %s. A longer warm-up helps (--warmup-time)", d.What, d.Why)))
	}
	for _, d := range c.Differences {
		if d.Figure != c.main() {
			continue
		}
		if v.Headline == "" {
			v.Headline = fmt.Sprintf("%s: %s %s", d.Name, d.percent(d.Percent), first.Unit())
			if doubts := c.doubtsOf(first.Name, d.Name); len(doubts) > 0 {
				v.Headline = fmt.Sprintf("%s: cannot tell: %s", d.Name, doubts[0].What)
			}
		}
		v.Notes = append(v.Notes, fmt.Sprintf("%s of %s: %s.", first.Unit(), d.Name, d.Text()))
	}
	for _, d := range c.Differences {
		name := c.titleOf(d.Figure)
		if len(c.Configurations) > 2 {
			name = d.Name + ": " + name
		}
		v.Facts = append(v.Facts, fact{Name: name, Value: d.percent(d.Percent)})
	}
	for _, p := range c.Parts {
		v.Notes = append(v.Notes, p.text(first.Unit(), c.words()))
	}
	for _, sentence := range c.Held {
		v.Notes = append(v.Notes, sentence+".")
	}
	for _, warning := range c.Warnings {
		v.Notes = append(v.Notes, sentence("Warning: "+warning))
	}
	if note := c.unpaired(); note != "" {
		v.Notes = append(v.Notes, note)
	}
	for _, one := range c.Configurations {
		v.Notes = append(v.Notes, benchNotes(one)...)
		for _, r := range one.Runs {
			if len(r.Wrong()) > 0 {
				v.Good = v.Good && !r.Counts
				v.Notes = append(v.Notes, sentence("Flagged: "+faultText(one, r)))
			}
		}
	}
	for _, verdict := range c.Gates {
		v.Good = v.Good && verdict.Outcome == limit.GatePassed
		v.Notes = append(v.Notes, sentence(fmt.Sprintf("Gate %s, %s: %s", verdict.Gate, verdict.Outcome, verdict.Why)))
	}
	return v
}

// unpaired says what it means that runs were not made in blocks; empty where they were, or where nothing is known yet.
func (c Comparison) unpaired() string {
	if slices.ContainsFunc(c.Differences, func(d Difference) bool { return d.Figure == c.main() && d.Blocks == 0 && d.Low != nil }) {
		return "The runs were not made in blocks: whatever else changed between them counts as a difference, which ds2 experiment takes out."
	}
	return ""
}

// words are those of the first configuration: others are of the same workload, or a warning says so.
func (c Comparison) words() result.Words {
	if len(c.Configurations) == 0 { // a bench whose runs are still to come
		return result.Words{}
	}
	return c.Configurations[0].Words
}

// comparedTable is the storage report's table (WORKLOAD.md section 6) with all runs as they were made, also those that do
// not count, and with what held each configuration back.
func comparedTable(c Comparison) table {
	columns := 0
	for _, one := range c.Configurations {
		columns = max(columns, len(one.Runs))
	}
	t, unit := table{Caption: "Results", Head: []string{"configuration"}}, c.Configurations[0].Unit()
	for i := range columns {
		t.Head = append(t.Head, fmt.Sprintf("run %d", i+1))
	}
	t.Head = append(t.Head, "runs", "median "+unit, "mean ± 95 % run to run", "± 95 % within the run", c.words().Cycle+" p95 ms", "device reads/s", "device limit reads/s", "device writes/s", "device limit log writes/s", "work put off s", "result with it", "bottleneck", "idle W", "active W", unit+"/W")
	for _, one := range c.Configurations {
		row := make([]string, 1+columns)
		row[0] = one.Name
		for i, r := range one.Runs {
			row[1+i] = ofRun(r)
			switch {
			case r.Figure == nil:
				row[1+i] = string(r.Status)
			case !r.Counts:
				row[1+i] += " dropped"
			}
		}
		row = append(row, fmt.Sprintf("%d of %d", len(conclude.Counted(one.Bench)), one.Setup.Runs), opmOf(one.Value(), cmp.Or(one.RunsCI95, one.CI95())), meanOf(one.Bench), uncertainty(one.CI95()))
		for _, of := range []func(result.BenchRun) *float64{p95OfRun, condition(result.ReadsOfDevices), condition(result.LimitOfReads), condition(result.WritesOfDevices), condition(result.LimitOfLogWrites), condition(result.DebtTime), condition(result.SettledRate)} {
			row = append(row, figureOr(ofMedian(of)(one.Bench)))
		}
		row = append(row, bottlenecks(one.Bench))
		for _, v := range []*float64{one.Idle, one.Active, one.PerWatt()} {
			row = append(row, decimal(v, 1))
		}
		t.Rows = append(t.Rows, row)
	}
	return t.trimmed()
}

// condition gives a condition of a run by its name.
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

// comparedLimits are the limits of all configurations and their verdicts.
func comparedLimits(c Comparison) table {
	t := table{Caption: "Limits, over the first window of the run that stands for each configuration", Head: []string{"configuration", "limit", "measured", "verdict"}}
	for _, one := range c.Configurations {
		for _, row := range limitTable(one.Limits).Rows {
			t.Rows = append(t.Rows, append([]string{one.Name}, row...))
		}
	}
	return t
}

// commandsOf are the commands that made the configurations.
func commandsOf(c Comparison) table {
	t := table{Caption: "Commands", Head: []string{"configuration", "what", "value"}, Words: true}
	for _, one := range c.Configurations {
		for _, row := range commandTable(one.Command).Rows {
			t.Rows = append(t.Rows, append([]string{one.Name}, row...))
		}
	}
	return t
}

func differenceTable(c Comparison) table {
	t := table{Caption: "Differences from " + c.Configurations[0].Name, Head: []string{"configuration", "figure", "difference"}, Words: true}
	for _, d := range c.Differences {
		t.Rows = append(t.Rows, []string{d.Name, c.titleOf(d.Figure), d.Text()})
	}
	return t
}

// overlays are charts of the runs that stand for the configurations; of a configuration whose record of that run is not
// there any more, nothing is drawn. of says whose curves they are.
func overlays(c Comparison, of string) ([]chart, error) {
	words := c.words()
	opm := chart{
		ID: "compare-opm", Title: words.Title() + " per minute over time", YName: words.Rate,
		Text:    words.Rate + " of each second of " + of + ".",
		Figures: table{Caption: words.Rate + " in the first window", Head: []string{"configuration", "from", "to", "mean " + words.Rate, "mean running average"}},
	}
	latency := chart{
		ID: "compare-latency", Title: "Response time of " + words.Cycles + " over time, 95th percentile", YName: "ms", Log: true,
		Text:    "The 95th percentile of the " + words.Cycles + " of each second of " + of + ".",
		Figures: table{Caption: "Response time of " + words.Cycles + " in milliseconds", Head: []string{"configuration", "mean", "p25", "p50", "p75", "p95", "p99", "p99.9", "max"}},
	}
	shares := chart{
		ID: "compare-distribution", Title: "Distribution of the response times of " + words.Cycles, YName: "ms", Log: true,
		Text:   "Response time that a share of the " + words.Cycles + " stayed within, in the first window.",
		Labels: quantileLabels(), XName: "share of the " + words.Cycles,
	}
	shares.Figures = table{Caption: "Response times by share of " + words.Cycles + ", in milliseconds", Head: slices.Concat([]string{"configuration"}, shares.Labels)}
	var windows []band // of the configurations, as long as they agree
	for _, one := range c.Configurations {
		if one.Median == "" {
			continue
		}
		r, err := one.read.Run(filepath.Join(one.Dir, one.Median))
		if err != nil || len(r.Windows) == 0 || len(r.Series.Samples) == 0 {
			continue
		}
		rate, p95 := line{Name: one.Name}, line{Name: one.Name}
		for _, s := range thinned(r.Series.Samples) {
			rate.add(middle(s), s.OPM())
			p95.add(middle(s), s.P95) // 0 where there were no orders, which a logarithmic axis leaves out
		}
		w := r.Windows[0]
		if window := (band{Name: "window " + w.Name, From: math.Round(w.From), To: math.Round(w.To), Window: true}); opm.Lines == nil {
			windows = []band{window}
		} else if len(windows) > 0 && windows[0] != window {
			windows = nil
		}
		opm.To = max(opm.To, r.Series.Samples[len(r.Series.Samples)-1].End.Seconds())
		l := w.Latency[measure.WholeOrder]
		opm.draw(rate)
		latency.draw(p95)
		opm.Figures.Rows = append(opm.Figures.Rows, []string{one.Name, seconds(w.From), seconds(w.To), opmOf(&w.OPM, w.CI95), opmOf(&w.RunningAverageOPM, w.CI95)})
		latency.Figures.Rows = append(latency.Figures.Rows, []string{one.Name, figure(l.Mean), figure(l.P25), figure(l.P50), figure(l.P75), figure(l.P95), figure(l.P99), figure(l.P999), figure(l.Max)})
		if err := addDistribution(&shares, r, one.Name); err != nil {
			return nil, err
		}
	}
	if len(opm.Lines) == 0 {
		return nil, nil
	}
	latency.To, opm.Bands, latency.Bands = opm.To, windows, windows
	return []chart{opm, latency, shares}, nil
}

// addDistribution adds a run's orders to a chart of distributions.
func addDistribution(c *chart, r *result.Record, name string) error {
	byName, err := r.Series.Distributions(latencySpan(r.Windows[0]))
	if err != nil {
		return err
	}
	if orders, some := byName[measure.WholeOrder]; some {
		c.addShares(name, orders)
	}
	return nil
}
