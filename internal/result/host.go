package result

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"ds2/internal/host"
)

// HostWriter writes the samples of the machine and the database as they come. A crash loses those since the last Flush.
type HostWriter struct {
	start time.Time
	file  *os.File
	zip   *gzip.Writer
	csv   *csv.Writer
	row   []string
}

// CreateHost begins the HostFile of the record in dir. Times in it count from start, when the first orders started.
func CreateHost(dir string, columns []string, start time.Time) (*HostWriter, error) {
	return createHost(filepath.Join(dir, HostFile), columns, start)
}

func createHost(path string, columns []string, start time.Time) (*HostWriter, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create record: %w", err)
	}
	w := &HostWriter{start: start, file: file, zip: gzip.NewWriter(file)}
	w.csv = csv.NewWriter(w.zip)
	w.csv.Write(append([]string{"t_s"}, columns...)) // an error stays and shows in Flush
	return w, nil
}

// Row appends a sample.
func (w *HostWriter) Row(r host.Row) {
	w.row = append(w.row[:0], strconv.FormatFloat(r.Time.Sub(w.start).Seconds(), 'f', 3, 64))
	for _, v := range r.Values {
		text := ""
		if !math.IsNaN(v) {
			text = strconv.FormatFloat(v, 'g', 5, 64)
		}
		w.row = append(w.row, text)
	}
	w.csv.Write(w.row)
}

// Flush puts on disk what was appended.
func (w *HostWriter) Flush() error {
	w.csv.Flush()
	if err := errors.Join(w.csv.Error(), w.zip.Flush()); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Close ends the file.
func (w *HostWriter) Close() error {
	w.csv.Flush()
	if err := errors.Join(w.csv.Error(), w.zip.Close(), w.file.Sync(), w.file.Close()); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// SaveHost writes a whole HostFile beside and renames it: the way to add what became known after the run.
func SaveHost(dir string, t *host.Table, start time.Time) error {
	path := filepath.Join(dir, HostFile)
	w, err := createHost(path+".tmp", t.Columns, start)
	if err != nil {
		return err
	}
	for _, row := range t.Rows {
		w.Row(row)
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// readHost reads a HostFile; a record without one has an empty table. What a crash cut off at its end is left out.
func readHost(path string, start time.Time) (host.Table, error) {
	var t host.Table
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	rows := csv.NewReader(zip)
	rows.ReuseRecord = true
	for {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, csv.ErrFieldCount) {
			return t, nil
		}
		if err != nil {
			return t, fmt.Errorf("%s: %w", path, err)
		}
		if t.Columns == nil {
			t.Columns = slices.Clone(fields[1:])
			continue
		}
		values := make([]float64, len(fields))
		for i, field := range fields {
			if values[i], err = strconv.ParseFloat(field, 64); err != nil {
				values[i] = math.NaN()
			}
		}
		at := time.Duration(math.Round(values[0]*1000)) * time.Millisecond
		t.Rows = append(t.Rows, host.Row{Time: start.Add(at), Values: values[1:]})
	}
}
