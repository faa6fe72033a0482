package result

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/sampling"
)

// maxCounter is beyond all that is counted, bytes included.
const maxCounter = 1e19

// hostCovers is the column of HostFile with the seconds that the counters of a line stand for.
const hostCovers = "covers_s"

// hostColumns are those of HostFile: the time since the first orders, each counter, empty where it
// was not seen, and the seconds that the counters stand for, empty where each is of the second
// before.
func hostColumns(counters []string, start time.Time) []column[sampling.Row] {
	columns := []column[sampling.Row]{{
		"t_s",
		func(r *sampling.Row) string { return secondsText(r.Time.Sub(start)) },
		func(r *sampling.Row, text string) error {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil || !(math.Abs(seconds) <= maxSeconds) {
				return fmt.Errorf("%q is not a time within a run", text)
			}
			r.Time = start.Add(milliseconds(seconds))
			// What was not seen is unknown, never 0.
			r.Values = slices.Repeat([]float64{math.NaN()}, len(counters))
			return nil
		},
	}}
	for i, name := range counters {
		columns = append(columns, column[sampling.Row]{name, func(r *sampling.Row) string {
			if !(math.Abs(r.Values[i]) <= maxCounter) {
				return ""
			}
			return strconv.FormatFloat(r.Values[i], 'g', 4, 64)
		}, func(r *sampling.Row, text string) error {
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
	return append(columns, column[sampling.Row]{hostCovers, coversText, readCovers})
}

// coversText has the seconds that each counter of a line stands for, runs of the same number as
// "12x1 3x15"; empty where all stand for one. The kernel is read every second, an exporter perhaps
// every 15: a mean over a window weighs each figure by its seconds, or it would be one of whatever
// is read most often.
func coversText(r *sampling.Row) string {
	var runs []string
	for rest := r.Covers; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n] == rest[0] {
			n++
		}
		runs = append(runs, fmt.Sprintf("%dx%.4g", n, rest[0]))
		rest = rest[n:]
	}
	return strings.Join(runs, " ")
}

// readCovers reads what coversText wrote, of a row whose counters were read.
func readCovers(r *sampling.Row, text string) error {
	counters := len(r.Values)
	for run := range strings.FieldsSeq(text) {
		count, each, _ := strings.Cut(run, "x")
		n, err := strconv.Atoi(count)
		seconds, otherErr := number(each)
		switch {
		case cmp.Or(err, otherErr) != nil || n < 1 || seconds > maxSeconds:
			return fmt.Errorf("%q is not a number of counters and their seconds", run)
		case len(r.Covers)+n > counters:
			return fmt.Errorf("%q is of more than %d counters", text, counters)
		}
		r.Covers = append(r.Covers, slices.Repeat([]float64{seconds}, n)...)
	}
	if r.Covers != nil && len(r.Covers) != counters {
		return fmt.Errorf("%q is not of %d counters", text, counters)
	}
	return nil
}

// CreateHost begins the HostFile of the record in dir, which takes the samples of the machine and
// the database as they come. Times in it count from start, when the first orders started.
func CreateHost(dir string, counters []string, start time.Time) (*csvFile[sampling.Row], error) {
	return createCSV(filepath.Join(dir, HostFile), hostColumns(counters, start))
}

// SaveHost writes the HostFile again, beside and renamed: the way to add what became known after
// the run.
func SaveHost(dir string, t *sampling.Table, start time.Time) error {
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
func ReadHost(dir string, start time.Time, ended bool) (t sampling.Table, err error) {
	path := filepath.Join(dir, HostFile)
	err = openFile.read(path, ended, func(names []string) (func([]string) error, error) {
		t.Columns = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return name == "t_s" || name == hostCovers
		})
		columns := hostColumns(t.Columns, start)
		if !slices.Contains(names, hostCovers) { // of an older ds2
			columns = columns[:len(columns)-1]
		}
		return lines(columns, func(r sampling.Row) error {
			if n := len(t.Rows); n > 0 && r.Time.Before(t.Rows[n-1].Time) {
				return fmt.Errorf("t_s: time %s is not after that of the line before",
					secondsText(r.Time.Sub(start)))
			}
			if (len(t.Rows)+1)*len(t.Columns) > maxCells {
				return fmt.Errorf("has more than %d figures with those before it: "+
					"it was not written by ds2", maxCells)
			}
			t.Rows = append(t.Rows, r)
			return nil
		})(names)
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // not observed
	}
	return t, err
}
