package monitor

import (
	"math"
	"slices"
	"sort"
	"time"
)

// Table is samples of a run with the names of their columns.
type Table struct {
	Columns []string
	Rows    []Row
}

// Items are the columns that stand for one thing of several: DiskBusy gives that of every device.
func (t *Table) Items(column string) []string {
	var names []string
	for _, name := range t.Columns {
		if c, _ := SplitColumn(name); c == column {
			names = append(names, name)
		}
	}
	return names
}

// Values are a column's values, one a row; nil where there is no such column.
func (t *Table) Values(column string) []float64 {
	i := slices.Index(t.Columns, column)
	if i < 0 {
		return nil
	}
	values := make([]float64, len(t.Rows))
	for n, row := range t.Rows {
		values[n] = row.Values[i]
	}
	return values
}

// Mean is the mean of a column's values after from and up to to (a sample stands for the second
// before it); NaN where there are none.
func (t *Table) Mean(column string, from, to time.Time) float64 {
	sum := 0.0
	values := t.between(column, from, to)
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Quantile is the value that the share q of a column's values after from and up to to does not
// exceed; NaN where there are none.
func (t *Table) Quantile(column string, q float64, from, to time.Time) float64 {
	values := t.between(column, from, to)
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return values[int(q*float64(len(values)-1))]
}

// between are a column's values after from and up to to, as far as there are some.
func (t *Table) between(column string, from, to time.Time) []float64 {
	var values []float64
	for i, v := range t.Values(column) {
		if at := t.Rows[i].Time; at.After(from) && !at.After(to) && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// Series is a figure over time, oldest first.
type Series []Point

// Point is one reading.
type Point struct {
	Time  time.Time
	Value float64
}

// Set puts a series into the rows by their times, in a column of that name, new or not: the newest
// reading at or before a row's time, where it is at most 30 s old. Other rows stay as they are.
func (t *Table) Set(column string, s Series) {
	i := t.place(column)
	for _, row := range t.Rows {
		k := sort.Search(len(s), func(k int) bool { return s[k].Time.After(row.Time) })
		if k > 0 && row.Time.Sub(s[k-1].Time) <= staleAfter {
			row.Values[i] = s[k-1].Value
		}
	}
}

// place is that of a column, which is made where there is none.
func (t *Table) place(column string) int {
	if i := slices.Index(t.Columns, column); i >= 0 {
		return i
	}
	t.Columns = append(t.Columns, column)
	for n := range t.Rows {
		t.Rows[n].Values = append(t.Rows[n].Values, math.NaN())
	}
	return len(t.Columns) - 1
}
