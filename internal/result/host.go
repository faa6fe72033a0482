package result

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/monitor"
)

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
		if !math.IsNaN(v) {
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

// SaveHost writes the HostFile anew and all its hours, beside and renamed: the way to add what became known after the run.
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

// readHost reads a HostFile; a record without one has an empty table. The hours may differ in their columns, where a
// crash cut SaveHost short. What a crash cut off at its end is left out.
func readHost(path string, start time.Time) (monitor.Table, error) {
	var t monitor.Table
	err := readHourly(path, func(columns []string) func([]string) error {
		var at []int // where each column stands in the table
		for _, name := range columns[1:] {
			if !slices.Contains(t.Columns, name) {
				t.Columns = append(t.Columns, name)
			}
			at = append(at, slices.Index(t.Columns, name))
		}
		return func(fields []string) error {
			seconds, err := strconv.ParseFloat(fields[0], 64)
			if err != nil {
				return fmt.Errorf("t_s: %q is no number", fields[0])
			}
			row := monitor.Row{Time: start.Add(time.Duration(math.Round(seconds*1000)) * time.Millisecond)}
			row.Values = slices.Repeat([]float64{math.NaN()}, len(t.Columns))
			for i, field := range fields[1:] {
				if v, err := strconv.ParseFloat(field, 64); err == nil {
					row.Values[at[i]] = v
				}
			}
			t.Rows = append(t.Rows, row)
			return nil
		}
	})
	for i, row := range t.Rows { // of hours without columns that later ones have
		for len(row.Values) < len(t.Columns) {
			row.Values = append(row.Values, math.NaN())
		}
		t.Rows[i] = row
	}
	return t, err
}
