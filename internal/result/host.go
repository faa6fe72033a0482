package result

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/monitor"
)

// maxCounter is beyond all that is counted, bytes included.
const maxCounter = 1e19

// hostColumns are those of HostFile: the time since the first orders, and each counter, empty where
// it was not seen.
func hostColumns(counters []string, start time.Time) []column[monitor.Row] {
	columns := []column[monitor.Row]{{
		"t_s",
		func(r *monitor.Row) string { return secondsText(r.Time.Sub(start)) },
		func(r *monitor.Row, text string) error {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil || !(math.Abs(seconds) <= maxSeconds) {
				return fmt.Errorf("%q is not a time within a run", text)
			}
			r.Time = start.Add(milliseconds(seconds))
			r.Values = slices.Repeat([]float64{math.NaN()}, len(counters))
			return nil
		},
	}}
	for i, name := range counters {
		columns = append(columns, column[monitor.Row]{name, func(r *monitor.Row) string {
			if !(math.Abs(r.Values[i]) <= maxCounter) {
				return ""
			}
			return strconv.FormatFloat(r.Values[i], 'g', 4, 64)
		}, func(r *monitor.Row, text string) error {
			if text == "" {
				return nil
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !(math.Abs(v) <= maxCounter) {
				return fmt.Errorf("%q cannot have been measured", text)
			}
			r.Values[i] = v
			return nil
		}})
	}
	return columns
}

// CreateHost begins the HostFile of the record in dir, which takes the samples of the machine and
// the database as they come. Times in it count from start, when the first orders started.
func CreateHost(dir string, counters []string, start time.Time) (*csvFile[monitor.Row], error) {
	return createCSV(filepath.Join(dir, HostFile), hostColumns(counters, start))
}

// SaveHost writes the HostFile again, beside and renamed: the way to add what became known after
// the run.
func SaveHost(dir string, t *monitor.Table, start time.Time) error {
	return written(atomicfile.Write(filepath.Join(dir, HostFile), func(to io.Writer) error {
		lines := compressed(to, hostColumns(t.Columns, start))
		for i := range t.Rows {
			lines.Write(&t.Rows[i])
		}
		return lines.end()
	}))
}

// maxCells is what the counters of a record may come to in memory, 2 GiB: 16 days of 200 a second.
const maxCells = 1 << 28

// ReadHost reads the HostFile of the record in dir, whose first orders started at start, and which
// ended or may not have. A record without one has an empty table.
func ReadHost(dir string, start time.Time, ended bool) (t monitor.Table, err error) {
	err = readCSV(
		filepath.Join(dir, HostFile),
		ended,
		func(names []string) (func([]string) error, error) {
			t.Columns = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
				return name == "t_s"
			})
			return lines(names, hostColumns(t.Columns, start), func(r monitor.Row) error {
				if n := len(t.Rows); n > 0 && r.Time.Before(t.Rows[n-1].Time) {
					return fmt.Errorf(
						"t_s: time %s is not after that of the line before",
						secondsText(r.Time.Sub(start)),
					)
				}
				if (len(t.Rows)+1)*len(t.Columns) > maxCells {
					return fmt.Errorf(
						"has more than %d figures with those before it: it was not written by ds2",
						maxCells,
					)
				}
				t.Rows = append(t.Rows, r)
				return nil
			})
		},
	)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // not observed
	}
	return t, err
}
