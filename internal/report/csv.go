package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"ds2/internal/measure"
	"ds2/internal/result"
)

var csvHeader = []string{"run_id", "t_s", "phase", "users", "opm", "orders", "errors", "retries", "order_mean_ms", "order_p95_ms", "order_max_ms"}

// ownCounts are the counts of a workload's own that reports show beside its cycles.
func ownCounts(words result.Words) (names []string) {
	if words.Undone != "" {
		names = append(names, words.Undone)
	}
	for _, x := range words.Added {
		names = append(names, x.Count)
	}
	return names
}

// CSV writes the one-second samples of all records for spreadsheets and plots, one a line.
func CSV(w io.Writer, records []*result.Record) error {
	out := csv.NewWriter(w)
	var operations, own []string
	for _, r := range records {
		for _, name := range ownCounts(r.Words) {
			if !slices.Contains(own, name) {
				own = append(own, name)
			}
		}
		for _, s := range r.Series.Samples {
			for _, o := range s.Operations {
				if !slices.Contains(operations, o.Name) {
					operations = append(operations, o.Name)
				}
			}
		}
	}
	slices.Sort(operations)
	header := slices.Clone(csvHeader)
	for i, name := range own {
		header = slices.Insert(header, slices.Index(csvHeader, "errors")+i, cell(name))
	}
	for _, name := range operations {
		header = append(header, cell(name+"_p95_ms"))
	}
	out.Write(header)
	decimals := func(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }
	for _, r := range records {
		for _, s := range r.Series.Samples {
			line := []string{cell(r.RunID), decimals(s.End.Seconds(), 3), cell(string(s.Phase)), strconv.Itoa(s.Users), decimals(s.OPM(), 1)}
			n := []int64{s.Counts.Orders}
			for _, name := range own {
				n = append(n, s.Counts.Of(name))
			}
			for _, n := range append(n, s.Errors, s.Counts.Retries) {
				line = append(line, strconv.FormatInt(n, 10))
			}
			line = append(line, decimals(s.Mean, 2), decimals(s.P95, 2), decimals(s.Max, 2))
			for _, name := range operations {
				p95 := ""
				if i := slices.IndexFunc(s.Operations, func(o measure.OperationP95) bool { return o.Name == name }); i >= 0 {
					p95 = decimals(s.Operations[i].P95, 2)
				}
				line = append(line, p95)
			}
			out.Write(line)
		}
	}
	out.Flush()
	return out.Error()
}
