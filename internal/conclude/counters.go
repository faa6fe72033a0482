package conclude

import (
	"iter"
	"math"
	"time"

	"ds2/internal/monitor"
	"ds2/internal/result"
)

// Counters are the mean, the lowest and the highest value of each column of a run's counters in its first window, or in
// the whole run where there is none; NaN of one without values.
func Counters(r *result.Record) (all [][]float64) {
	from, to := r.Start, r.End
	if len(r.Windows) > 0 {
		from, to = r.At(r.Windows[0].From), r.At(r.Windows[0].To)
	}
	for _, column := range r.Host.Columns {
		all = append(all, []float64{r.Host.Mean(column, from, to),
			r.Host.Quantile(column, 0, from, to), r.Host.Quantile(column, 1, from, to)})
	}
	return all
}

// Thinned is a column in at most n points: means of neighbours, at the time of the first; NaN where none is known.
func Thinned(t *monitor.Table, column string, most int) iter.Seq2[time.Time, float64] {
	return func(yield func(time.Time, float64) bool) {
		size, values := max(1, (len(t.Rows)+most-1)/most), t.Values(column)
		for at := 0; at < len(values); at += size {
			sum, n := 0., 0.
			for _, v := range values[at:min(at+size, len(values))] {
				if !math.IsNaN(v) {
					sum, n = sum+v, n+1
				}
			}
			if !yield(t.Rows[at].Time, sum/n) {
				return
			}
		}
	}
}
