package sampling

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
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

// A figure of less than leastCovered of a time is unknown, one of less than wellCovered is said to
// be of a part only.
const (
	leastCovered = 0.5
	wellCovered  = 0.9
)

// Sampled is a figure over a time, with the seconds of it that the samples cover.
type Sampled struct {
	Value      float64 // NaN where most of the time is not covered
	Covers, Of float64
}

// Partly tells that the figure is not of the whole time. A sample more or less at each end is of no
// account.
func (s Sampled) Partly() bool {
	return s.Covers < wellCovered*s.Of && s.Of-s.Covers > 2*Interval.Seconds()
}

// Unknown tells that most of the time is not covered.
func (s Sampled) Unknown() bool { return s.Covers < leastCovered*s.Of }

// orUnknown is a value, where the samples cover enough of the time for it.
func (s Sampled) orUnknown(value float64) float64 {
	if s.Unknown() {
		return math.NaN()
	}
	return value
}

// weighedBy has the columns that are a mean over things that happened, with how many of these there
// were a second: where none happened there is no mean, though it was looked. Of those without such
// a column it is not known which time they cover.
var weighedBy = findWeighers()

// findWeighers finds for each mean of figures.tsv the rate of what it is a mean of.
func findWeighers() map[string]string {
	all := map[string]string{}
	for _, kinds := range figureKinds {
		for _, k := range kinds {
			if i := findDivisor(kinds, k); i >= 0 {
				all[k.column] = kinds[i].column
			} else if k.how == "statistic" {
				all[k.column] = ""
			}
		}
	}
	return all
}

// Mean is the mean of a column's values after from (zero: the first sample) and up to to (a sample
// stands for the time before it that it covers); NaN where most of the time is not covered.
func (t *Table) Mean(column string, from, to time.Time) float64 {
	return t.Sampled(column, from, to).Value
}

// Sampled is Mean with the time that it covers.
func (t *Table) Sampled(column string, from, to time.Time) Sampled {
	sum := 0.0
	weights := 0.0
	s := t.eachBetween(column, from, to, func(value, seconds, things float64) {
		sum += value * seconds * things
		weights += seconds * things
	})
	s.Value = s.orUnknown(sum / weights)
	return s
}

// Quantile is the value that a column does not exceed for the share q of the time after from and up
// to to; NaN where most of it is not covered.
func (t *Table) Quantile(column string, q float64, from, to time.Time) float64 {
	type weighed struct{ value, seconds float64 }
	var all []weighed
	sum := 0.0
	s := t.eachBetween(column, from, to, func(value, seconds, _ float64) {
		all = append(all, weighed{value, seconds})
		sum += seconds
	})
	if len(all) == 0 {
		return math.NaN()
	}
	slices.SortFunc(all, func(a, b weighed) int { return cmp.Compare(a.value, b.value) })
	// Of the time without the last value's, so that q = 0 gives the lowest and q = 1 the highest.
	rest := q * (sum - all[len(all)-1].seconds)
	i := 0
	for i < len(all)-1 && rest >= all[i].seconds {
		rest -= all[i].seconds
		i++
	}
	return s.orUnknown(all[i].value)
}

// eachBetween goes through a column's values after from and up to to, as far as there are some,
// each with the seconds that it covers and the things a second that it is a mean of, 1 where it is
// of none. The result is without a value.
func (t *Table) eachBetween(
	column string, from, to time.Time, take func(value, seconds, things float64),
) Sampled {
	i := slices.Index(t.Columns, column)
	if i < 0 || len(t.Rows) == 0 {
		return Sampled{Value: math.NaN()}
	}
	if from.IsZero() { // as far as it was sampled, such as before a run
		from = t.Rows[0].Time.Add(-Interval)
		after := func(r Row) bool { return r.Time.After(to) }
		if n := slices.IndexFunc(t.Rows, after); n > 0 {
			to = t.Rows[n-1].Time
		}
	}
	s := Sampled{Value: math.NaN(), Of: to.Sub(from).Seconds()}
	general, item := SplitColumn(column)
	weigher, ofEvents := weighedBy[general]
	by := slices.Index(t.Columns, ItemColumn(weigher, item))
	for _, row := range t.Rows {
		if !row.Time.After(from) || row.Time.After(to) {
			continue
		}
		seen := i
		things := 1.0
		if by >= 0 {
			seen = by
			things = row.Values[by]
		}
		most := max(Interval, row.Time.Sub(from)) // of one that came late
		seconds := min(row.Covered(seen), most.Seconds())
		s.Covers += seconds
		if v := row.Values[i]; !math.IsNaN(v) && (things > 0 || by < 0) {
			take(v, seconds, things)
		}
	}
	if ofEvents && by < 0 {
		s.Covers = s.Of
	}
	return s
}

// Partly are the columns that cover a part of a time only, by group that of them which covers
// least. Those that were never seen, as of a server that does not count them, are none. Links come
// and go with containers and are read at once: of these it is the one that covers most.
func (t *Table) Partly(from, to time.Time) map[string]Sampled {
	least := map[string]Sampled{}
	for i, column := range t.Columns {
		if !slices.ContainsFunc(t.Rows, func(r Row) bool { return !math.IsNaN(r.Values[i]) }) {
			continue
		}
		s := t.Sampled(column, from, to)
		group, _, _ := strings.Cut(column, ".")
		other, there := least[group]
		worse := s.Covers < other.Covers
		if group == "network" {
			worse = s.Covers > other.Covers
		}
		if !there || worse {
			least[group] = s
		}
	}
	maps.DeleteFunc(least, func(_ string, s Sampled) bool { return !s.Partly() })
	return least
}

// Series is a figure over time, oldest first.
type Series []Point

// Point is one reading.
type Point struct {
	Time  time.Time
	Value float64
}

// Set puts a series into the rows by their times, in a column of that name, new or not: the newest
// reading at or before a row's time, where the next one came within the longest pause. Other rows
// stay as they are.
func (t *Table) Set(column string, s Series) {
	i := t.placeOf(column)
	usual := s.usualPause() * 3 / 2
	longest := max(StaleAfter, usual)
	for n := range t.Rows {
		row := &t.Rows[n]
		k := sort.Search(len(s), func(k int) bool { return s[k].Time.After(row.Time) })
		// No reading stands for the time before the first, for a gap, or for long after the last.
		if k == 0 || k < len(s) && s[k].Time.Sub(s[k-1].Time) > longest ||
			k == len(s) && row.Time.Sub(s[k-1].Time) > max(Interval, usual) {
			continue
		}
		row.Values[i] = s[k-1].Value
		row.setCovered(i, Interval.Seconds())
	}
}

// fewReadings do not show how often a meter reads.
const fewReadings = 4

// usualPause is the one between readings; 0 where it does not show.
func (s Series) usualPause() time.Duration {
	if len(s) < fewReadings {
		return 0
	}
	var pauses []time.Duration
	for i := range s[1:] {
		pauses = append(pauses, s[i+1].Time.Sub(s[i].Time))
	}
	slices.Sort(pauses)
	return pauses[len(pauses)/2]
}

// placeOf is that of a column, which is made where there is none.
func (t *Table) placeOf(column string) int {
	if i := slices.Index(t.Columns, column); i >= 0 {
		return i
	}
	t.Columns = append(t.Columns, column)
	for n := range t.Rows {
		t.Rows[n].Values = append(t.Rows[n].Values, math.NaN())
		if t.Rows[n].Covers != nil {
			t.Rows[n].Covers = append(t.Rows[n].Covers, Interval.Seconds())
		}
	}
	return len(t.Columns) - 1
}

// StaleAfter is how long a reading of power stands for the present when no newer one comes.
const StaleAfter = 30 * time.Second
