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
		own = addNew(own, filled([]string{r.Words.Undone})...)
		for _, x := range r.Words.Added {
			own = addNew(own, x.Count)
		}
		for _, s := range r.Series.Samples {
			for _, o := range s.Operations {
				operations = addNew(operations, o.Name)
			}
		}
	}
	// Records of several workloads and versions stand in one file: a column that a record lacks is
	// 0 or empty in its lines.
	slices.Sort(operations)
	drives := slices.ContainsFunc(records, func(r *result.Record) bool {
		return r.Words.Unit == result.IOPS
	})
	head := slices.Concat(strings.Fields("run_id t_s phase users opm orders"), own,
		strings.Fields("errors retries order_mean_ms order_p95_ms order_max_ms"))
	if drives {
		head = append(head, "iops")
	}
	for _, name := range operations {
		head = append(head, name+"_p95_ms")
	}
	out := csvFile{csv.NewWriter(w)}
	out.Write(mapEach(head, cell))
	for _, r := range records {
		var rates []float64
		if drives {
			// IOPS are those of the drives that hold the data, without the log's, as limits have
			// them.
			rates = conclude.EachSecond(r)
		}
		for i, s := range r.Series.Samples {
			line := []any{
				r.RunID, fixed(s.End.Seconds(), 3), string(s.Phase), s.Users, fixed(s.OPM(), 1),
				s.Counts.Orders,
			}
			for _, name := range own {
				line = append(line, s.Counts.Of(name))
			}
			line = append(line, s.Errors, s.Counts.Retries,
				fixed(s.Mean, 2), fixed(s.P95, 2), fixed(s.Max, 2))
			if drives {
				line = append(line, fixed(rates[i], 1))
			}
			// An operation that was not called in a second has no percentile there.
			p95s := map[string]string{}
			for _, o := range s.Operations {
				p95s[o.Name] = fixed(o.P95, 2)
			}
			for _, name := range operations {
				line = append(line, p95s[name])
			}
			out.row(line...)
		}
	}
	return out.end()
}

// csvFile is a file of comma-separated values.
type csvFile struct{ *csv.Writer }

// row writes a line of texts, counts and figures. A figure that is not known is empty.
func (f csvFile) row(cells ...any) {
	var line []string
	for _, v := range cells {
		switch v := v.(type) {
		case string:
			line = append(line, cell(v))
		// Unknown is an empty cell, as spreadsheets have it, and never 0.
		case *float64:
			line = append(line, showKnown(v, plain))
		default:
			line = append(line, fmt.Sprint(v))
		}
	}
	f.Write(line)
}

// end says what went wrong with any line.
func (f csvFile) end() error {
	f.Flush()
	return f.Error()
}

// fixed is a figure with n decimals; empty where it is not known.
func fixed(f float64, n int) string {
	if math.IsNaN(f) {
		return ""
	}
	return strconv.FormatFloat(f, 'f', n, 64)
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
	figure := c.Configurations[0].Named(compare.Main)
	head := slices.Concat(strings.Fields("configuration run counts stands"),
		[]string{figure, figure + "_ci95"},
		strings.Fields("idle_w active_w findings bottleneck order_p95_ms"))
	// Of mail stores IOPS are ranked with and without the log's, so a line has both.
	columns := compare.Costs
	if c.Configurations[0].Unit() == result.IOPS {
		columns = slices.Concat(columns, compare.OfDrives)
	}
	for _, column := range columns {
		head = append(head, column.Name)
	}
	out := csvFile{csv.NewWriter(w)}
	out.Write(mapEach(head, cell))
	for _, one := range c.Configurations {
		for _, r := range one.Runs {
			findings := strings.Join(result.Sentences(r.Findings, result.Reserves), "; ")
			line := []any{
				one.Name, r.Dir, r.Counts, r.Dir == one.Median, r.Value(), r.CI95(),
				r.Idle, r.Active, findings, r.Bottleneck, r.P95,
			}
			for _, column := range columns {
				line = append(line, column.Of(r))
			}
			out.row(line...)
		}
	}
	return out.end()
}

// CSV writes the tables of a page for spreadsheets, a figure a line.
func (p Page) CSV(w io.Writer) error {
	out := csvFile{csv.NewWriter(w)}
	out.row("of", "table", "row", "column", "value")
	for _, v := range p.views {
		for _, t := range append([]table{v.Figures}, v.Tables...) {
			for _, row := range t.Rows {
				for i, value := range row[1:] {
					out.row(v.Title, t.Caption, row[0], t.Head[i+1], value)
				}
			}
		}
	}
	return out.end()
}

// cell is a text for a CSV file: clean, and never a formula to a spreadsheet.
func cell(text string) string {
	text = clean(text)
	if strings.IndexAny(text, "=+-@") == 0 {
		return "'" + text
	}
	return text
}
