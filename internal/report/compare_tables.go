package report

import (
	"fmt"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/result"
)

// runTable is all runs in the order in which they were made, also those that do not count; stands
// is the one that stands for the others.
func runTable(all []compare.Configuration, stands string) table {
	type run struct {
		result.BenchRun
		Of      compare.Configuration
		Counted string
	}
	var runs []run
	for _, one := range all {
		for _, r := range one.Runs {
			runs = append(runs, run{r, one, countsText(one, r, r.Dir == stands)})
		}
	}
	// In the order of time across configurations, which shows what drifted from hour to hour.
	slices.SortStableFunc(runs, func(a, b run) int { return a.Number - b.Number })
	return fill("runs", map[string]any{"First": all[0], "Runs": runs}).dropEmptyColumns()
}

// blockTable is what the difference in the main figure is made of, block by block: its mean over
// the blocks leaves out what drifts from one to the next.
func (c comparison) blockTable() table {
	first := c.Configurations[0]
	t := fill("blocks", c.Configurations)
	for _, r := range compare.Counted(first.Bench) {
		row := []string{fmt.Sprint(r.Block), opmOf(r.Value(), r.CI95())}
		for _, one := range c.Configurations[1:] {
			value := ""
			by := ""
			paired := c.Of(one.Name, compare.Main)
			// Runs are paired by their block: they were made one soon after the other.
			for _, o := range compare.Counted(one.Bench) {
				if o.Block == r.Block && paired != nil && paired.Blocks > 0 {
					d := compare.Between(*r.Value(), *o.Value())
					value = opmOf(o.Value(), o.CI95())
					by = d.PercentText(d.Percent)
				}
			}
			row = append(row, value, by)
		}
		if r.Block > 0 && strings.Join(row[2:], "") != "" {
			t.row(row...)
		}
	}
	return t
}

func countsText(c compare.Configuration, r result.BenchRun, stands bool) (text string) {
	switch {
	case r.Counts && stands:
		text = "yes, the median"
	case r.Counts:
		text = "yes"
	case r.Practice:
		return "no: for practice"
	case compare.OtherUnit(c.Bench, r) != "":
		return "no: " + compare.OtherUnit(c.Bench, r)
	case r.Figure != nil:
		return "dropped: not steady"
	default:
		return "no, " + string(r.Status)
	}
	if f := result.FindingOf(r.Findings, result.Unsteady, result.Drifts,
		result.NotJudged); f != nil {
		text += ", " + string(f.Kind)
	}
	return text
}

// ofEach is the tables of configurations below each other.
func (c comparison) ofEach(caption string, of func(compare.Configuration) table) (t table) {
	for _, one := range c.Configurations {
		rows := of(one)
		t.Caption = caption
		t.Head = append([]string{"configuration"}, rows.Head...)
		t.Words = rows.Words
		for _, row := range rows.Rows {
			t.row(append([]string{one.Name}, row...)...)
		}
	}
	return t
}
