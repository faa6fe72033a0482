package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

type comparison struct{ compare.Comparison }

// Comparison is the page of a comparison.
func Comparison(all compare.Comparison) Page {
	c := comparison{all}
	if len(c.Configurations) == 1 {
		return Bench(c.Configurations[0])
	}
	v := c.view()
	var kits []string
	for _, one := range c.Configurations {
		kits = addNew(kits, one.KitVersion)
		v.Tables = append(v.Tables, conditionTable(one), medianCosts(one))
	}
	v.Byline = byline(time.Time{}, "comparison", strings.Join(kits, ", ds2 "), "")
	v.Tables = append(v.Tables, disclosureTable(c.Configurations),
		c.ofEach("Commands", func(one compare.Configuration) table {
			return commandTable(one.Command)
		}))
	return Page{title: "ds2 comparison", views: []view{v}}
}

func (c comparison) view() view {
	first := c.Configurations[0]
	v := view{
		ID:       "compare",
		RunID:    first.Name,
		Title:    "Against " + first.Name,
		Headline: c.sentence(),
		Figures:  c.figures(),
		Tables: []table{
			differenceTable(c),
			c.differingTable(),
			c.blockTable(),
			runTable(c.Configurations, ""),
			c.ofEach("Limits, over the first window of each run", func(one compare.Configuration) table {
				return limitTable(one.Limits)
			}).
				trimmed(),
		},
	}
	for _, one := range c.Configurations {
		v.because(why(one))
	}
	for _, p := range c.Parts {
		text := fmt.Sprintf(
			"%s of %s is %s that of %s: %s the IOPS, divided by %s the I/Os per %s.",
			first.Unit(),
			p.Name,
			numbers.Times(p.Ratio),
			p.Against,
			numbers.Times(p.IORate),
			numbers.Times(p.IOsPerCycle),
			c.Words().Cycle,
		)
		if c.Doubt(p.Against, p.Name) != nil {
			text = "An estimate that " + doesNotCount + ": " + text
		}
		v.because(text)
	}
	if len(v.Why) == 0 {
		v.because("Why: " + notStated + ". No record says what limited its runs.")
	}
	v.found(c.Findings)
	for _, d := range c.Differences {
		told := d.Metric.Name == c.Stated().Name && d.Significant != nil && *d.Significant
		if told && !c.Doubtful(d) && math.Abs(d.Percent-d.Medians) > .01*(100+d.Percent) {
			v.because(
				fmt.Sprintf("By the medians of the runs the difference of %s is %s; "+
					"%s and its interval are of their geometric means, which the columns show.",
					d.Name, d.PercentText(d.Medians), d.PercentText(d.Percent)),
			)
		}
	}
	v.draw = func() ([]chart, error) { return c.charts(v.ID, c.Configurations) }
	return v
}

// sentence is the largest difference that was found or, if none was, why not.
func (c comparison) sentence() string {
	stated := c.largest()
	switch {
	case stated == nil && len(c.Configurations) > 1:
		first := c.Configurations[0].Name
		other := c.Configurations[1].Name
		doubt := cmp.Or(c.Doubt(first, other), new(result.NewFinding(result.NoResult, "")))
		return fmt.Sprintf("Cannot tell %s from %s: %s", other, first, doubt.Kind)
	case stated == nil:
		return "no result"
	}
	first := c.called(stated.Against) + c.atEqual()
	other := c.called(stated.Name)
	marked := ""
	switch doubt := c.Doubt(stated.Against, stated.Name); {
	case doubt == nil:
	case compare.Mild(*doubt):
		marked = fmt.Sprintf("; it %s: %s", doesNotCount, doubt.Kind)
	default:
		return fmt.Sprintf(
			"Cannot tell %s from %s: %s; an estimate is %s",
			other,
			first,
			doubt.Kind,
			stated.PercentText(stated.Percent),
		)
	}
	if stated.Significant != nil && !*stated.Significant {
		return c.none(*stated) + marked
	}
	if stated.Metric.Name != compare.Main {
		return c.responseTimes(*stated, other, first) + marked
	}
	what := cmp.Or(c.Words().Cycles, c.Configurations[0].Unit())
	if c.Configurations[0].Unit() == result.IOPS {
		what = "I/Os"
	}
	text := other + " completed "
	bound := stated.PercentText
	switch by := stated.PercentText(stated.Percent); {
	case stated.Percent > 100: // is easier to read as a factor
		bound = stated.FactorText
		text += fmt.Sprintf("%s as many %s as %s", bound(stated.Percent), what, first)
	case strings.Trim(by, "+-0. %") == "":
		text += fmt.Sprintf("as many %s as %s", what, first)
	case stated.Percent < 0:
		text += fmt.Sprintf("%s fewer %s than %s", by[1:], what, first)
	default:
		text += fmt.Sprintf("%s more %s than %s", by[1:], what, first)
	}
	if stated.Low == nil {
		return text + "; too few runs for an interval" + marked
	}
	return fmt.Sprintf("%s; %s between %s and %s%s", text, c.Confidence(), bound(*stated.Low),
		bound(*stated.High), marked)
}

// responseTimes is the headline where the rate was set, at which response times are compared.
func (c comparison) responseTimes(d compare.Difference, other, first string) string {
	text := fmt.Sprintf("At the rate that was set, the %s of %s is %s that of %s",
		c.Title(d.Metric), other, d.FactorText(d.Percent), first)
	if d.Low == nil {
		return text + "; too few runs for an interval"
	}
	return fmt.Sprintf("%s; %s between %s and %s", text, c.Confidence(), d.FactorText(*d.Low),
		d.FactorText(*d.High))
}

// largest is the difference that the headline is about: the largest that was found, as equal
// systems differ by chance too, and more so the more of them are compared. Where none was found it
// is the largest of which nothing can be told, else of all.
func (c comparison) largest() (largest *compare.Difference) {
	rank := func(d compare.Difference) int {
		switch {
		case c.Doubt(d.Against, d.Name) != nil:
			return 1
		case d.Significant != nil && *d.Significant:
			return 2
		}
		return 0
	}
	stated := c.Differences
	if len(c.Equal) > 0 {
		stated = nil
		for _, e := range c.Equal {
			stated = append(stated, e.Difference)
		}
	}
	for i, d := range stated {
		if d.Metric.Name == c.Stated().Name && (largest == nil ||
			cmp.Or(rank(d)-rank(*largest), cmp.Compare(d.Ratio(), largest.Ratio())) > 0) {
			largest = &stated[i]
		}
	}
	return largest
}

// atEqual says where factors are equal, as a part of a sentence.
func (c comparison) atEqual() string {
	if len(c.Equal) == 0 {
		return ""
	}
	return " at equal " + strings.Join(c.Equal[0].Factors, " and ")
}

// none says that no difference was found, and between what they lie.
func (c comparison) none(d compare.Difference) string {
	what := "No difference"
	if d.Metric.Name != compare.Main {
		what = "At the rate that was set, no difference in " + c.Title(d.Metric)
	}
	text := fmt.Sprintf("%s found between %s and %s: it lies", what, c.called(d.Name),
		c.called(d.Against)+c.atEqual())
	if len(c.Configurations) > 2 && len(c.Equal) != 1 {
		text = fmt.Sprintf("%s from %s found: that of %s, the largest, lies",
			what, c.called(d.Against)+c.atEqual(), c.called(d.Name))
	}
	text += fmt.Sprintf(" between %s and %s", d.PercentText(*d.Low), d.PercentText(*d.High))
	if of := c.Of(d.Name, compare.PerWatt); of != nil && of.Significant != nil && *of.Significant {
		text += fmt.Sprintf("; but %s of %s: %s", c.Title(of.Metric), of.Name,
			of.PercentText(of.Percent))
	}
	return text
}

// differingTable is in what the configurations were not alike.
func (c comparison) differingTable() table {
	head := cells("parameter", c.Configurations, configurationName)
	t := newTable("What the configurations differ in", append(head, "may differ")...)
	for _, d := range c.Differing {
		row := []string{d.Name}
		for _, value := range d.Values {
			row = append(row, cmp.Or(value, "unknown"))
		}
		may := "no"
		switch {
		case d.May:
			may = "yes: storage is compared by it"
		case d.Declared:
			may = "yes: the subject"
		}
		t.row(append(row, may)...)
	}
	return t
}

func configurationName(c compare.Configuration) string { return c.Name }

func (c comparison) called(name string) string {
	for _, one := range c.Configurations {
		if (one.Name == name || one.Of == name) && one.Labels != "" {
			return fmt.Sprintf("%s (%s)", name, one.Labels)
		}
	}
	return name
}

// firstFigures are those that a reader looks for, of which the first eight that were measured are
// shown.
var firstFigures = []string{
	compare.Main,
	"order_p95_ms",
	"active_w",
	compare.PerWatt,
	"joules_per_order",
	"read_latency_ms",
	"log_write_latency_ms",
	"device_reads_per_order",
	"processors_pct",
}

const (
	mostFigures = 8
	mostColumns = 3 // configurations beside each other; of more, each has a row
)

// figures are the first figures of the configurations side by side, of two with their difference.
func (c comparison) figures() table {
	what := "figure"
	several := len(c.Configurations) > 1
	if several {
		what = "geometric mean"
	}
	t := newTable("", cells(what, c.Configurations, configurationName)...)
	two := len(c.Configurations) == 2
	if two {
		how := "difference"
		if d := c.Of(c.Configurations[1].Name, compare.Main); d != nil && d.Blocks > 0 {
			how = fmt.Sprintf("difference, mean of %d blocks", d.Blocks)
		}
		t.Head = append(t.Head, how, c.Confidence()+" confidence")
	}
	names := firstFigures
	if c.Configurations[0].Unit() == result.IOPS { // the published reports rank by the total
		names = []string{compare.Main}
		for _, m := range compare.OfDrives {
			names = append(names, m.Name)
		}
		names = append(names, firstFigures[1:]...)
	}
	for _, name := range names {
		f := compare.MetricNamed(name)
		title := c.Title(f)
		if f.Unit != "" {
			title += ", " + f.Unit
		}
		row := cells(title, c.Configurations, func(one compare.Configuration) string {
			return metricText(f, one, several)
		})
		if strings.Join(row[1:], "") == "" || len(t.Rows) == mostFigures {
			continue
		}
		if two {
			row = append(row, c.differenceCells(c.Of(c.Configurations[1].Name, name))...)
		}
		t.row(row...)
	}
	if t = t.trimmed(); len(c.Configurations) > mostColumns {
		return t.turned()
	}
	return t
}

func (c comparison) differenceCells(d *compare.Difference) []string {
	if d == nil {
		return []string{"", ""}
	}
	by := d.PercentText(d.Percent)
	interval := ""
	if d.Low != nil {
		interval = d.IntervalText()
	}
	if doubt := c.Doubt(d.Against, d.Name); doubt != nil {
		by = "estimate " + by
		if !compare.Mild(*doubt) {
			interval = doesNotCount
		}
	}
	return []string{by, interval}
}

// metricText is a metric of a configuration: the median of its runs or, beside others, the
// geometric mean, of which differences are.
func metricText(m compare.Metric, c compare.Configuration, beside bool) string {
	value := m.Middle(c, beside)
	text := figureOr(value)
	if m.Name == compare.Main {
		text = opmOf(value, c.Half())
	}
	if m.Bound(c) {
		text = "at least " + text
	}
	if low, high, several := m.Spread(c); several && !beside && m.OfPower() {
		text += fmt.Sprintf(" (%s to %s)", figure(low), figure(high))
	}
	return text
}

// why says what held a configuration back, and how near its devices were to what they can do.
func why(c compare.Configuration) string {
	whats, runs := compare.Bottlenecks(c.Bench)
	if len(whats) == 0 {
		return ""
	}
	text := c.Name + " was limited by " + diagnose.LimitedBy[whats[0]]
	if of := len(compare.Counted(c.Bench)); of > 1 {
		text += fmt.Sprintf(" (%d of %d runs)", runs[whats[0]], of)
	}
	for _, what := range whats[1:] {
		text += fmt.Sprintf(", by %s (%d)", diagnose.LimitedBy[what], runs[what])
	}
	reads := compare.TakeMedian(c, result.ReadsOfDevices)
	most := compare.TakeMedian(c, result.LimitOfReads)
	if reads != nil && most != nil {
		text += fmt.Sprintf("; its drives read %s of the %s a second that they can do, %s",
			figure(*reads), figure(*most), numbers.Share(*reads, *most, 0))
	}
	return sentence(text)
}

// doesNotCount stands in place of the interval of an estimate of which nothing can be told.
const doesNotCount = "does not count"
