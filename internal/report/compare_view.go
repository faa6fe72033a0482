package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Page is what there is to read of a comparison.
func (c Comparison) Page() Page {
	if len(c.Configurations) == 1 {
		return c.Configurations[0].Page()
	}
	v := c.view()
	var kits []string
	for _, one := range c.Configurations {
		kits = addNew(kits, one.KitVersion)
		v.Tables = append(v.Tables, conditionTable(one), medianCosts(one))
	}
	v.Byline = byline(time.Time{}, "comparison", strings.Join(kits, ", ds2 "), "")
	v.Tables = append(v.Tables, disclosureTable(c.Configurations), commandsOf(c.Configurations))
	return Page{"ds2 comparison", []view{v}}
}

func (c Comparison) view() view {
	first := c.Configurations[0]
	v := view{
		ID: "compare", RunID: first.Name, Title: "Against " + first.Name, Headline: c.sentence(), Figures: c.figures(),
		Tables: []table{gateTable(c), differenceTable(c), runTable(c.Configurations, ""), comparedLimits(c)},
	}
	for _, one := range c.Configurations {
		v.because(one.why())
	}
	for _, p := range c.Parts {
		text := p.text(first.Unit(), c.words())
		if c.doubt(p.Against, p.Name) != nil {
			text = "An estimate that " + doesNotCount + ": " + text
		}
		v.because(text)
	}
	if len(v.Why) == 0 {
		v.because("Why: " + notStated + ". No record says what limited its runs.")
	}
	for _, held := range c.Held {
		v.because(sentence(held))
	}
	levels := map[Outcome]level{GateFailed: failure, GatePassed: proof, GateOpen: unknown}
	for _, gate := range c.Gates {
		v.findf(levels[gate.Outcome], "Gate %s, %s: %s", gate.Gate, gate.Outcome, gate.Why)
	}
	for _, d := range c.Doubts {
		if strings.HasPrefix(d.What, "still ") {
			v.findf(unknown, "%s: %s. A longer warm-up helps (--warmup-time)", capital(d.What), d.Why)
		} else {
			v.findf(failure, "%s: %s", capital(d.What), d.Why)
		}
	}
	apart := false
	for _, d := range c.Differences {
		if d.Figure != c.main() {
			continue
		}
		apart = apart || d.Blocks == 0 && d.Low != nil
		text := fmt.Sprintf("%s of %s: %s", first.Unit(), d.Name, d.Text())
		switch {
		case !d.blind() && c.doubtful(d):
			v.find(aside, "An estimate that "+doesNotCount+": "+text)
		case d.Low == nil:
			v.find(unknown, text)
		case d.blind():
			v.find(unknown, text+"; "+d.shown())
		default:
			v.find(proof, text)
			if *d.Significant && math.Abs(d.Percent-d.Medians) > .01*(100+d.Percent) {
				v.because(fmt.Sprintf("By medians, which the columns show, the difference of %s is %s; "+
					"%s and its interval are of the geometric means of all runs.",
					d.Name, d.percent(d.Medians), d.percent(d.Percent)))
			}
		}
	}
	v.warn(c.Warnings)
	if apart {
		v.find(reservation, "The runs were not made in blocks: whatever else changed between them counts as "+
			"a difference, which ds2 experiment takes out")
	}
	for _, one := range c.Configurations {
		v.Findings = append(v.Findings, benchFindings(one)...)
	}
	v.draw = func() ([]chart, error) { return c.charts(v.ID, c.Configurations) }
	return v
}

// of is the difference of a configuration in a figure; nil where nobody measured it.
func (c Comparison) of(name, figure string) *Difference {
	for i, d := range c.Differences {
		if d.Name == name && d.Figure == c.named(figure) {
			return &c.Differences[i]
		}
	}
	return nil
}

// ratio is that of the larger figure to the smaller one.
func (d Difference) ratio() float64 {
	ratio := 1 + d.Percent/100
	return max(ratio, 1/ratio)
}

// sentence is by how much the configurations differ: of more than two, the one that differs most.
func (c Comparison) sentence() string {
	var most *Difference
	for i, d := range c.Differences {
		if d.Figure == c.main() && (most == nil || d.ratio() > most.ratio()) {
			most = &c.Differences[i]
		}
	}
	for _, d := range c.Doubts {
		if most == nil && len(c.Configurations) > 1 {
			return fmt.Sprintf("Cannot tell %s from %s: %s", c.Configurations[1].Name, c.Configurations[0].Name, d.What)
		}
	}
	if most == nil {
		return "no result"
	}
	first, other := c.called(most.Against), c.called(most.Name)
	if doubt := c.doubt(most.Against, most.Name); doubt != nil {
		return fmt.Sprintf("Cannot tell %s from %s: %s", other, first, doubt.What)
	}
	if most.Significant != nil && !*most.Significant {
		text := fmt.Sprintf("No difference found between %s and %s", other, first)
		if least := most.Detectable; least != nil {
			text += fmt.Sprintf("; one larger than about %s %% would have been seen", worth(*least, *least))
		}
		if d := c.of(most.Name, perWatt); d != nil && d.Significant != nil && *d.Significant {
			text += fmt.Sprintf("; but %s of %s: %s", c.titleOf(d.Figure), d.Name, d.percent(d.Percent))
		}
		return text
	}
	what := cmp.Or(c.words().Cycles, c.Configurations[0].Unit())
	if c.Configurations[0].Unit() == result.IOPS {
		what = "I/Os"
	}
	text, bound := other+" completed ", most.percent
	switch by := most.percent(most.Percent); {
	case most.Percent > 100: // is easier to read as a factor
		bound = most.factor
		text += fmt.Sprintf("%s the %s of %s", bound(most.Percent), what, first)
	case strings.Trim(by, "+-0. %") == "":
		text += fmt.Sprintf("as many %s as %s", what, first)
	case most.Percent < 0:
		text += fmt.Sprintf("%s fewer %s than %s", by[1:], what, first)
	default:
		text += fmt.Sprintf("%s more %s than %s", by[1:], what, first)
	}
	if most.Low == nil {
		return text + "; how sure that is, so few runs do not tell"
	}
	return fmt.Sprintf("%s; 95 %% between %s and %s", text, bound(*most.Low), bound(*most.High))
}

func (c Comparison) called(name string) string {
	for _, one := range c.Configurations {
		if one.Name == name && one.Labels != "" {
			return fmt.Sprintf("%s (%s)", name, one.Labels)
		}
	}
	return name
}

// firstFigures are those that a reader looks for, of which the first five that were measured are shown.
var firstFigures = []string{
	mainFigure, "order_p95_ms", "active_w", perWatt, "joules_per_order", "read_latency_ms", "log_write_latency_ms",
	"device_reads_per_order", "processors_pct",
}

const (
	mostFigures = 5
	mostColumns = 3 // configurations beside each other; of more, each has a row
)

// figures are five figures of the configurations side by side, of two with their difference.
func (c Comparison) figures() table {
	t := newTable("", "figure")
	if len(c.Configurations) > 1 {
		t.Head[0] = "geometric mean"
	}
	for _, one := range c.Configurations {
		t.Head = append(t.Head, one.Name)
	}
	two := len(c.Configurations) == 2
	if two {
		t.Head = append(t.Head, "difference", "95 % confidence")
	}
	for _, name := range firstFigures {
		f := figureNamed(name)
		title, known := f.titleIn(c.Configurations[0].Unit(), c.words()), false
		if f.unit != "" {
			title += ", " + f.unit
		}
		row := []string{title}
		for _, one := range c.Configurations {
			text := f.text(one, len(c.Configurations) > 1)
			known = known || text != ""
			row = append(row, text)
		}
		if !known || len(t.Rows) == mostFigures {
			continue
		}
		if two {
			row = append(row, c.cells(c.of(c.Configurations[1].Name, name))...)
		}
		t.row(row...)
	}
	if t = t.trimmed(); len(c.Configurations) > mostColumns {
		return t.turned()
	}
	return t
}

func (c Comparison) cells(d *Difference) []string {
	switch {
	case d == nil:
		return []string{"", ""}
	case c.doubtful(*d):
		return []string{"estimate " + d.percent(d.Percent), doesNotCount}
	case d.Low == nil:
		return []string{d.percent(d.Percent), ""}
	}
	return []string{d.percent(d.Percent), d.interval()}
}

// text is the figure of a configuration: the median of its runs or, beside others, the geometric mean, of which
// differences are.
func (f compared) text(c Configuration, beside bool) string {
	all := valuesOf(c, f.run)
	if len(all.values) == 0 {
		return ""
	}
	value := f.scale * measure.Median(all.values)
	if beside {
		value = f.scale * measure.GeometricMean(all.values)
	}
	text := figure(value)
	if f.name == mainFigure {
		text = opmOf(&value, c.halfWidth())
	}
	if all.bounds(f) {
		text = "at least " + text
	}
	return text
}

// median is that of the runs in which the figure was measured, as it is shown; nil where there are none.
func (f compared) median(c Configuration) *float64 {
	all := valuesOf(c, f.run).values
	if len(all) == 0 {
		return nil
	}
	return new(f.scale * measure.Median(all))
}

// why says what held a configuration back, and how near its devices were to what they can do.
func (c Configuration) why() string {
	what := bottleneck(c.Bench)
	if what == "" {
		return ""
	}
	text := fmt.Sprintf("%s was limited by %s", c.Name, limitedBy[what])
	if runs := compare.Counted(c.Bench); len(runs) > 1 {
		same := 0
		for _, r := range runs {
			if r.Bottleneck == what {
				same++
			}
		}
		text += fmt.Sprintf(" (%d of %d runs)", same, len(runs))
	}
	reads := ofCondition("", result.ReadsOfDevices, "", "").median(c)
	most := ofCondition("", result.LimitOfReads, "", "").median(c)
	if reads != nil && most != nil {
		text += fmt.Sprintf("; its drives read %s of the %s a second that they can do, %.0f %%",
			figure(*reads), figure(*most), 100**reads / *most)
	}
	return sentence(text)
}

var limitedBy = map[string]string{
	diagnose.Errors: "errors", diagnose.Storage: "storage", diagnose.CPU: "the processors", diagnose.Locks: "locks", diagnose.Client: "the client",
	diagnose.Network: "the network", diagnose.Unclear: "nothing that could be named",
}

// runTable is all runs in the order in which they were made, also those that do not count; stands is the one that
// stands for the others.
func runTable(all []Configuration, stands string) table {
	words := all[0].Words
	t := newTable("Runs, as they were made",
		"configuration", "run", "number", "block", all[0].Unit(), "± 95 % within the run", words.Cycle+" p95 ms",
		"device reads/s", "device limit reads/s", "device writes/s", "device limit log writes/s",
		words.Cycles+" lost to events", "rate back after s", "longest "+words.Cycle+" after one ms",
		"idle W", "active W", "bottleneck", "counts")
	type made struct {
		number int
		row    []string
	}
	var rows []made
	count := func(n int) string { return map[bool]string{true: fmt.Sprint(n)}[n > 0] }
	for _, one := range all {
		for _, r := range one.Runs {
			row := []string{one.Name, r.Dir, count(r.Number), count(r.Block),
				ofRun(r), uncertainty(r.CI95()), p95Text(r)}
			for _, name := range []string{
				result.ReadsOfDevices, result.LimitOfReads, result.WritesOfDevices, result.LimitOfLogWrites,
				result.LostOrders, result.BackAfter, result.LongestOrder,
			} {
				row = append(row, figureOr(condition(name)(r)))
			}
			counts := countsText(one, r, r.Dir == stands)
			rows = append(rows, made{r.Number, append(row, figureOr(r.Idle), figureOr(r.Active), r.Bottleneck, counts)})
		}
	}
	slices.SortStableFunc(rows, func(a, b made) int { return a.number - b.number })
	for _, r := range rows {
		t.Rows = append(t.Rows, r.row)
	}
	return t.trimmed()
}

func p95Text(r result.BenchRun) string {
	if r.P95AtLeast {
		return "at least " + figureOr(r.P95)
	}
	return figureOr(r.P95)
}

func countsText(c Configuration, r result.BenchRun, stands bool) (text string) {
	switch {
	case r.Counts && stands:
		text = "yes, the median"
	case r.Counts:
		text = "yes"
	case r.Practice:
		return "no: for practice"
	case r.Unsteady != "" && len(r.Faults) == 0:
		return "dropped: not steady"
	case compare.OtherUnit(c.Bench, r) != "":
		return "no: " + compare.OtherUnit(c.Bench, r)
	case r.Figure != nil:
		return "dropped"
	default:
		return "no, " + string(r.Status)
	}
	if r.Unsteady != "" {
		text += ", not steady"
	}
	return text
}

func comparedLimits(c Comparison) table {
	t := newTable("Limits, over the first window of the run that stands for each configuration",
		"configuration", "limit", "measured", "verdict")
	for _, one := range c.Configurations {
		t.under(one.Name, limitTable(one.Limits))
	}
	return t
}

func commandsOf(all []Configuration) table {
	t := newWords("Commands", "configuration", "what", "value")
	for _, one := range all {
		t.under(one.Name, commandTable(one.Command))
	}
	return t
}

func differenceTable(c Comparison) table {
	t := newWords("Differences from "+c.Configurations[0].Name, "configuration", "figure", "difference")
	for _, d := range c.Differences {
		t.row(d.Name, c.titleOf(d.Figure), d.Text())
	}
	return t
}
