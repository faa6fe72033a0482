package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"ds2/internal/compare"
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
		v.Tables = append(v.Tables, conditionTable(one), costTable(one))
	}
	v.Byline = byline(time.Time{}, "comparison", strings.Join(kits, ", ds2 "))
	v.Tables = append(v.Tables, fill("disclosure", c.Configurations),
		c.ofEach("Commands", func(one compare.Configuration) table {
			return fill("command", one)
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
			fill("differences", c),
			fill("differing", c),
			c.blockTable(),
			runTable(c.Configurations, ""),
			c.ofEach("Limits, over the first window of each run", func(one compare.Configuration) table {
				return fill("limits", one.Limits)
			}).
				dropEmptyColumns(),
		},
	}
	for _, one := range c.Configurations {
		v.explainLimit(one)
	}
	for _, p := range c.Parts {
		v.because(say("parts of a ratio", struct {
			compare.Parts
			All     comparison
			Doubted bool
		}{p, c, c.Doubt(p.Against, p.Name) != nil}))
	}
	if len(v.Why) == 0 {
		v.because("Why: " + notStated + ". No record says what limited its runs.")
	}
	v.addFindings(c.Findings)
	// The storage report compares medians, ds2 geometric means, whose difference has an interval.
	// Where the two say different things, a reader is to know both.
	for _, d := range c.Differences {
		// A hundredth of the figure apart is what a reader of rounded medians can notice.
		told := d.Metric.Name == c.Stated().Name && isFound(d) && !c.Doubtful(d)
		if told && math.Abs(d.Percent-d.Medians) > .01*(100+d.Percent) {
			v.because(say("medians", d))
		}
	}
	v.draw = func() ([]chart, error) { return c.charts(v.ID, c.Configurations) }
	return v
}

// headline is what the first sentence of a comparison is about.
type headline struct {
	compare.Difference                 // the largest
	All                comparison      // that it is of
	First, Other       string          // the configurations of the difference, as readers call them
	What               string          // what they completed
	Doubt              *result.Finding // why nothing can be told of it; nil: something can
	Mild               bool            // its figures are right nevertheless
	OfSeveral          bool            // there are more than these two configurations
	// PerWatt is the difference by power where that was found; nil where it was not.
	PerWatt *compare.Difference
}

// newHeadline words the largest difference, see largest.
func (c comparison) newHeadline(d compare.Difference) headline {
	h := headline{
		Difference: d, All: c, First: c.called(d.Against), Other: c.called(d.Name), What: "I/Os",
		Doubt:     c.Doubt(d.Against, d.Name),
		OfSeveral: len(c.Configurations) > 2 && len(c.Equal) != 1,
	}
	// A mild doubt, such as of configurations that are not alike, leaves figures that are right;
	// any other leaves no more than an estimate.
	h.Mild = h.Doubt != nil && compare.Mild(*h.Doubt)
	if len(c.Equal) > 0 {
		h.First += " at equal " + strings.Join(c.Equal[0].Factors, " and ")
	}
	// Orders of a database, but I/Os of a mail store, whose cycles are no figure.
	if c.Configurations[0].Unit() != result.IOPS {
		h.What = cmp.Or(c.Words().Cycles, c.Configurations[0].Unit())
	}
	if of := c.Of(d.Name, compare.PerWatt); of != nil && isFound(*of) {
		h.PerWatt = of
	}
	return h
}

// Found says that the runs show the difference.
func (h headline) Found() bool { return h.Significant == nil || *h.Significant }

// isFound says that runs show a difference by more than chance.
func isFound(d compare.Difference) bool { return d.Significant != nil && *d.Significant }

// sentence is the largest difference that was found or, if none was, why not.
func (c comparison) sentence() string {
	if stated := c.largest(); stated != nil {
		return say("headline of a comparison", c.newHeadline(*stated))
	}
	if len(c.Configurations) < 2 {
		return "no result"
	}
	first := c.Configurations[0].Name
	other := c.Configurations[1].Name
	doubt := cmp.Or(c.Doubt(first, other), new(result.NewFinding(result.NoResult, "")))
	return fmt.Sprintf("Cannot tell %s from %s: %s", other, first, doubt.Kind)
}

// largest is the difference that the headline is about: the largest that was found, as equal
// systems differ by chance too, and more so the more of them are compared. Where none was found it
// is the largest of which nothing can be told, else of all.
func (c comparison) largest() (largest *compare.Difference) {
	rank := func(d compare.Difference) int {
		switch {
		case c.Doubt(d.Against, d.Name) != nil:
			return 1
		case isFound(d):
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
	t := fill("figures of configurations", c)
	several := len(c.Configurations) > 1
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
		if len(c.Configurations) == 2 {
			row = append(row, c.differenceCells(c.Of(c.Configurations[1].Name, name))...)
		}
		t.row(row...)
	}
	if t = t.dropEmptyColumns(); len(c.Configurations) > mostColumns {
		return t.transpose()
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
			interval = inconclusive
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

// inconclusive stands in place of the interval of an estimate of which nothing can be told.
const inconclusive = "not conclusive"

// explainLimit says what held a configuration back, as far as its runs tell.
func (v *view) explainLimit(c compare.Configuration) {
	whats, runs := compare.Bottlenecks(c.Bench)
	if len(whats) == 0 {
		return
	}
	v.because(sentence(say("why", map[string]any{
		"Name": c.Name, "Whats": whats, "Runs": runs, "Counting": len(compare.Counted(c.Bench)),
		"Reads": compare.TakeMedian(c, result.ReadsOfDevices),
		"Most":  compare.TakeMedian(c, result.LimitOfReads),
	})))
}
