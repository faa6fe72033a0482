package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/result"
)

// runTable is all runs in the order in which they were made, also those that do not count; stands
// is the one that stands for the others.
func runTable(all []compare.Configuration, stands string) table {
	words := all[0].Words
	t := newTable(
		"Runs, as they were made",
		"configuration",
		"run",
		"number",
		"block",
		all[0].Unit(),
		"± 95 % within the run",
		words.Cycle+" p95 ms",
		"device reads/s",
		"device limit reads/s",
		"device writes/s",
		"device limit log writes/s",
		words.Cycles+" lost to events",
		"rate back after s",
		"longest "+words.Cycle+" after one ms",
		"idle W",
		"active W",
		"bottleneck",
		"counts",
	)
	count := func(n int) string { return map[bool]string{true: fmt.Sprint(n)}[n > 0] }
	rows := map[int][][]string{} // by the numbers of the runs
	for _, one := range all {
		for _, r := range one.Runs {
			p95 := figureOr(r.P95)
			if r.P95AtLeast {
				p95 = "at least " + p95
			}
			row := []string{
				one.Name, r.Dir, count(r.Number), count(r.Block),
				opmOf(r.Value(), r.CI95()), uncertainty(r.CI95()), p95,
			}
			for _, name := range []string{
				result.ReadsOfDevices, result.LimitOfReads,
				result.WritesOfDevices, result.LimitOfLogWrites,
				result.LostOrders, result.BackAfter, result.LongestOrder,
			} {
				row = append(row, figureOr(compare.Condition(name)(r)))
			}
			row = append(
				row,
				figureOr(r.Idle),
				figureOr(r.Active),
				r.Bottleneck,
				countsText(one, r, r.Dir == stands),
			)
			rows[r.Number] = append(rows[r.Number], row)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(rows)) {
		t.Rows = append(t.Rows, rows[number]...)
	}
	return t.trimmed()
}

// blockTable is what the difference in the main figure is made of, block by block: its mean over
// the blocks leaves out what drifts from one to the next.
func (c comparison) blockTable() table {
	first := c.Configurations[0]
	t := newTable(
		"Blocks: "+first.Unit()+", and the difference from "+first.Name,
		"block",
		first.Name,
	)
	for _, one := range c.Configurations[1:] {
		t.Head = append(t.Head, one.Name, "difference")
	}
	for _, r := range compare.Counted(first.Bench) {
		row := []string{fmt.Sprint(r.Block), opmOf(r.Value(), r.CI95())}
		for _, one := range c.Configurations[1:] {
			value := ""
			by := ""
			paired := c.Of(one.Name, compare.Main)
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
	if f := result.FindingOf(
		r.Findings,
		result.Unsteady,
		result.Drifts,
		result.NotJudged,
	); f != nil {
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

func differenceTable(c comparison) table {
	t := newWords(
		"Differences from "+c.Configurations[0].Name,
		"configuration",
		"figure",
		"difference",
	)
	for _, d := range c.Differences {
		t.row(d.Name, c.Title(d.Metric), d.Text())
	}
	return t
}
