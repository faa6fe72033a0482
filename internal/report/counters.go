package report

import (
	_ "embed"
	"slices"
	"strings"

	"ds2/internal/conclude"
	"ds2/internal/datatable"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// counterChart is a chart of counters that share a unit, a line of charts.tsv.
type counterChart struct {
	chart    // without lines; its ID is that within a record
	counters []string
}

//go:embed charts.tsv
var chartsTable string

var counterCharts = readCharts(chartsTable)

func readCharts(table string) (charts []counterChart) {
	for _, row := range datatable.Rows(table, 5) {
		c := chart{ID: row[0], Title: row[1], Text: row[4]}
		c.Log = row[2] == "logarithmic"
		c.Near = row[2] == "near-data"
		charts = append(charts, counterChart{c, strings.Fields(row[3])})
	}
	return charts
}

// counter is how a column of the host's table is shown.
type counter struct {
	column, item string // of one of the items that the column is of
	label, name  string // within its group, and with it
	unit         string
	scale        float64
}

// units are those that a quantity's name ends in, the longest first.
var units = []struct {
	suffix, unit string
	scale        float64
}{
	{"_bytes_per_second", "MB/s", 1e-6},
	{"_per_second", "a second", 1},
	{"_seconds", "ms", 1e3},
	{"_bytes", "MB", 1e-6},
	{"_ratio", "%", 100},
	{"watts", "W", 1},
	{"_hertz", "GHz", 1e-9},
	{"_celsius", "°C", 1},
}

func newCounter(column string) counter {
	c := counter{scale: 1}
	c.column, c.item = sampling.SplitColumn(column)
	group, name, _ := strings.Cut(c.column, ".")
	// The unit of a counter is the end of its name, as Prometheus has it.
	for _, u := range units {
		if cut, ok := strings.CutSuffix(name, u.suffix); ok {
			name = cut
			c.unit = u.unit
			c.scale = u.scale
			break
		}
	}
	c.label = strings.TrimSpace(
		c.item + " " + strings.ReplaceAll(strings.Trim(name, "_"), "_", " "))
	c.name = strings.TrimSpace(group + " " + c.label)
	if c.label == "" {
		c.label = group
	}
	return c
}

// dashNames are those of page.js.
var dashNames = []string{"solid", "dashed", "dotted"}

// hostCharts draws the counters beside the orders; none where the record has none.
func hostCharts(r *result.Record, id string) (all []chart) {
	for _, spec := range counterCharts {
		c, shown := spec.drawColumns(id, r.Host.Columns)
		c.Place = folded
		for i, l := range shown {
			for _, p := range conclude.Thinned(&r.Host, r.Host.Columns[l.Column], maxPoints) {
				c.Lines[i].add(p.Time.Sub(r.Start).Seconds(), p.Value*l.Scale)
			}
		}
		all = append(all, drawn(c)...)
	}
	return all
}

// CounterLine says which column of the samples is a line of a chart, and by what it is multiplied.
type CounterLine struct {
	Column int
	Scale  float64
}

// drawColumns gives the chart a line without points for each of the columns that are in it.
func (spec counterChart) drawColumns(id string, columns []string) (c chart, shown []CounterLine) {
	c = spec.chart
	c.ID = id + "-" + c.ID
	var items, dashed []string
	// A drive keeps its colour in all its lines, and a quantity its dashes on all drives.
	for i, column := range columns {
		counter := newCounter(column)
		quantity := slices.Index(spec.counters, counter.column)
		// Of one machine's CPUs there is a column of all; of several machines there is one of each.
		oneOfMany := strings.HasPrefix(column, "cpu.") && counter.item != "" &&
			slices.Contains(columns, counter.column)
		if oneOfMany || quantity < 0 {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(counter.label, "sessions "), "waits ")
		c.draw(line{Name: name})
		if counter.item != "" {
			// The legend of many lines has each drive once, and the text each kind of line.
			l := &c.Lines[len(c.Lines)-1]
			items = addNew(items, counter.item)
			l.Hue = slices.Index(items, counter.item)
			l.Dash = quantity
			l.Name = counter.item
			l.What = strings.TrimSpace(strings.TrimPrefix(counter.label, counter.item))
			dashed = addNew(dashed, dashNames[quantity%len(dashNames)]+": "+l.What)
		}
		c.YName = counter.unit
		shown = append(shown, CounterLine{i, counter.scale})
	}
	if len(dashed) > 1 {
		c.Text += " " + capital(strings.Join(dashed, ", ")) + "."
		c.nameEachLine()
	}
	return c, shown
}

// mostInLegend is how many lines a legend names one by one.
const mostInLegend = 8

// nameEachLine has the legend show each line with its dashes, such as a drive's reads and its
// writes, where they are few.
func (c *chart) nameEachLine() {
	if len(c.Lines) > mostInLegend {
		return
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		l.Name = strings.TrimSpace(l.Name + " " + l.What)
		l.What = ""
	}
}

// counterTable is all counters as Jetstress reports them: average, minimum and maximum.
func counterTable(r *result.Record) table {
	t := fill("counters", nil)
	for i, values := range conclude.Counters(r) {
		c := newCounter(r.Host.Columns[i])
		row := []string{c.name, c.unit}
		for _, v := range values {
			row = append(row, orDash(v*c.scale, figure))
		}
		t.row(row...)
	}
	return t
}
