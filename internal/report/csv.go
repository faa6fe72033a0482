package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/conclude"
	"ds2/internal/result"
)

// CSV writes the one-second samples of all records for spreadsheets and plots, one a line.
func CSV(w io.Writer, records []*result.Record) error {
	var operations, own []string // own: of the workload, beside its cycles
	for _, r := range records {
		own = addNew(own, undone(r.Words, r.Words.Undone)...)
		for _, x := range r.Words.Added {
			own = addNew(own, x.Count)
		}
		for _, s := range r.Series.Samples {
			for _, o := range s.Operations {
				operations = addNew(operations, o.Name)
			}
		}
	}
	slices.Sort(operations)
	header := []string{"run_id", "t_s", "phase", "users", "opm", "orders"}
	for _, name := range own {
		header = append(header, cell(name))
	}
	header = append(header, "errors", "retries", "order_mean_ms", "order_p95_ms", "order_max_ms")
	drives := slices.ContainsFunc(records, func(r *result.Record) bool {
		return r.Words.Unit == result.IOPS
	})
	if drives {
		header = append(header, "iops")
	}
	for _, name := range operations {
		header = append(header, cell(name+"_p95_ms"))
	}
	out := csv.NewWriter(w)
	out.Write(header)
	decimals := func(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }
	orNone := func(f float64, n int) string {
		if math.IsNaN(f) {
			return ""
		}
		return decimals(f, n)
	}
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, r := range records {
		var rates []float64
		if drives {
			rates = conclude.EachSecond(r)
		}
		for i, s := range r.Series.Samples {
			line := []string{
				cell(r.RunID),
				decimals(s.End.Seconds(), 3),
				cell(string(s.Phase)),
				strconv.Itoa(s.Users),
				decimals(s.OPM(), 1),
				whole(s.Counts.Orders),
			}
			for _, name := range own {
				line = append(line, whole(s.Counts.Of(name)))
			}
			line = append(line, whole(s.Errors), whole(s.Counts.Retries),
				decimals(s.Mean, 2), decimals(s.P95, 2), decimals(s.Max, 2))
			if drives {
				line = append(line, orNone(rates[i], 1))
			}
			p95s := map[string]string{}
			for _, o := range s.Operations {
				p95s[o.Name] = decimals(o.P95, 2)
			}
			for _, name := range operations {
				line = append(line, p95s[name])
			}
			out.Write(line)
		}
	}
	out.Flush()
	return out.Error()
}

// addNew adds the names that are not among those yet.
func addNew(names []string, more ...string) []string {
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// CompareCSV writes a line a run. Costs are per order, in base units.
func CompareCSV(w io.Writer, c compare.Comparison) error {
	if len(c.Configurations) == 0 {
		return errors.New("write CSV: no configuration has a run that counts")
	}
	out := csv.NewWriter(w)
	figure := c.Configurations[0].Named(compare.Main)
	head := []string{
		"configuration", "run", "counts", "stands", figure, figure + "_ci95", "idle_w", "active_w",
		"findings", "bottleneck", "order_p95_ms",
	}
	columns := compare.Costs
	if c.Configurations[0].Unit() == result.IOPS {
		columns = slices.Concat(columns, compare.OfDrives)
	}
	for _, column := range columns {
		head = append(head, column.Name)
	}
	out.Write(head)
	number := func(v *float64) string { return known(v, plain) }
	for _, one := range c.Configurations {
		for _, r := range one.Runs {
			line := []string{
				cell(one.Name),
				cell(r.Dir),
				fmt.Sprint(r.Counts),
				fmt.Sprint(r.Dir == one.Median),
				number(r.Value()),
				number(r.CI95()),
				number(r.Idle),
				number(r.Active),
				cell(strings.Join(result.Sentences(r.Findings, result.Reserves), "; ")),
				cell(r.Bottleneck),
				number(r.P95),
			}
			for _, column := range columns {
				line = append(line, number(column.Of(r)))
			}
			out.Write(line)
		}
	}
	out.Flush()
	return out.Error()
}

// CSV writes the tables of a page for spreadsheets, a figure a line.
func (p Page) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"of", "table", "row", "column", "value"})
	for _, v := range p.views {
		for _, t := range append([]table{v.Figures}, v.Tables...) {
			for _, row := range t.Rows {
				for i := 1; i < len(row); i++ {
					var head string
					if i < len(t.Head) {
						head = t.Head[i]
					}
					out.Write(cells(cell(v.Title), []string{t.Caption, row[0], head, row[i]}, cell))
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// cell is a text for a CSV file: clean, and never a formula to a spreadsheet.
func cell(text string) string {
	text = clean(text)
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}
