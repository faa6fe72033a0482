package result

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/monitor"
)

// maxCounter is beyond all that is counted, bytes included.
const maxCounter = 1e19

// HostWriter writes the samples of the machine and the database as they come, and keeps nothing of them. A crash loses
// those since the last Flush.
type HostWriter struct {
	start  time.Time
	file   *hourly
	fields []string // of the line under way
	err    error    // the first
}

// CreateHost begins the HostFile of the record in dir. Times in it count from start, when the first orders started.
func CreateHost(dir string, columns []string, start time.Time) (*HostWriter, error) {
	file, err := createHourly(filepath.Join(dir, HostFile), append([]string{"t_s"}, columns...))
	if err != nil {
		return nil, fmt.Errorf("create record: %w", err)
	}
	return &HostWriter{start: start, file: file}, nil
}

// Row appends a sample. An error shows in Flush.
func (w *HostWriter) Row(r monitor.Row) {
	at := r.Time.Sub(w.start)
	w.fields = append(w.fields[:0], secondsText(at))
	for _, v := range r.Values {
		text := ""
		if math.Abs(v) <= maxCounter {
			text = strconv.FormatFloat(v, 'g', 4, 64)
		}
		w.fields = append(w.fields, text)
	}
	if w.err == nil {
		w.err = w.file.write(at, w.fields)
	}
}

// Flush puts on disk what was appended.
func (w *HostWriter) Flush() error {
	if err := errors.Join(w.err, w.file.flush()); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Close ends the file.
func (w *HostWriter) Close() error {
	if err := errors.Join(w.err, w.file.close()); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// SaveHost writes the HostFile again and all its hours, beside and renamed: the way to add what became known after the
// run.
func SaveHost(dir string, t *monitor.Table, start time.Time) error {
	beside, err := os.MkdirTemp(dir, ".host-")
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	defer os.RemoveAll(beside)
	w, err := CreateHost(beside, t.Columns, start)
	if err != nil {
		return err
	}
	for _, row := range t.Rows {
		w.Row(row)
	}
	if err := w.Close(); err != nil {
		return err
	}
	files, err := os.ReadDir(beside)
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	for _, file := range files {
		if err := os.Rename(filepath.Join(beside, file.Name()), filepath.Join(dir, file.Name())); err != nil {
			return fmt.Errorf("write record: %w", err)
		}
	}
	if err := atomicfile.SyncDir(dir); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// maxCells is what the counters of a record may come to in memory, 2 GiB: 16 days of 200 a second.
const maxCells = 1 << 28

// ReadHost reads the HostFile of the record in dir, whose first orders started at start.
func ReadHost(dir string, start time.Time) (monitor.Table, error) {
	t, err := readHost(filepath.Join(dir, HostFile), start, false)
	if err != nil {
		return t, fmt.Errorf("read record: %w", err)
	}
	return t, nil
}

// readHost reads a HostFile; a record without one has an empty table. The hours may differ in their columns, where a
// crash cut SaveHost short.
func readHost(path string, start time.Time, ended bool) (monitor.Table, error) {
	var t monitor.Table
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return t, nil // nobody observed
	}
	err := readHourly(path, ended, hostLines(&t, start))
	for i, row := range t.Rows { // of hours without columns that later ones have
		for len(row.Values) < len(t.Columns) {
			row.Values = append(row.Values, math.NaN())
		}
		t.Rows[i] = row
	}
	return t, err
}

// hostLines appends the rows of lines to a table, and the columns that it lacks.
func hostLines(t *monitor.Table, start time.Time) func(columns []string) (func([]string) error, error) {
	last := math.Inf(-1)
	cells := 0
	return func(columns []string) (func([]string) error, error) {
		if columns[0] != "t_s" {
			return nil, errors.New("the column t_s is missing")
		}
		var at []int // where each column stands in the table
		known := index(t.Columns)
		for _, name := range columns[1:] {
			i, there := known[name]
			if !there {
				i = len(t.Columns)
				t.Columns = append(t.Columns, name)
			}
			at = append(at, i)
		}
		return func(fields []string) error {
			seconds, err := strconv.ParseFloat(fields[0], 64)
			if err != nil || !(math.Abs(seconds) <= maxSeconds) || seconds < last {
				return fmt.Errorf("t_s: time %q is not after that of the line before", fields[0])
			}
			last = seconds
			if cells += len(t.Columns); cells > maxCells {
				return fmt.Errorf("has more than %d figures with those before it: it was not written by ds2", maxCells)
			}
			row := monitor.Row{Time: start.Add(time.Duration(math.Round(seconds*1000)) * time.Millisecond)}
			row.Values = slices.Repeat([]float64{math.NaN()}, len(t.Columns))
			for i, field := range fields[1:] {
				if field == "" {
					continue
				}
				v, err := strconv.ParseFloat(field, 64)
				if err != nil || !(math.Abs(v) <= maxCounter) {
					return fmt.Errorf("%s: %q cannot have been measured", columns[1+i], field)
				}
				row.Values[at[i]] = v
			}
			t.Rows = append(t.Rows, row)
			return nil
		}, nil
	}
}
