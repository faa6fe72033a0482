package report

import (
	"fmt"
	"maps"
	"slices"

	"ds2/internal/result"
)

// ioTable is the times of traced I/Os, by drive and what they were for; without rows where none were traced.
func ioTable(s result.Summary) table {
	t := table{Caption: "Times of I/Os in milliseconds", Head: []string{"drive and purpose", "count", "mean", "p50", "p95", "p99", "p99.9", "p99.99", "max"}}
	if len(s.Windows) == 0 {
		return t
	}
	w := s.Windows[0]
	t.Caption += fmt.Sprintf(", from %s to %s", seconds(w.LatencyFrom), seconds(w.LatencyTo))
	for _, name := range slices.Sorted(maps.Keys(w.IO)) {
		l := w.IO[name]
		t.Rows = append(t.Rows, []string{name, integer(l.Count), figure(l.Mean), figure(l.P50), figure(l.P95), figure(l.P99), figure(l.P999), figure(l.P9999), figure(l.Max)})
	}
	return t
}
