package result

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/measure"
)

// Writer writes the record of a run as it goes, and keeps nothing of it. It is used by one goroutine.
type Writer struct {
	samples, histograms *csvFile
	slowest             *csvFile
	log                 *logFile
	columns             []column[measure.Sample]
	fields              []string // of the line under way
}

// ErrNotEmpty says that the directory for a record holds something already.
var ErrNotEmpty = errors.New("the directory holds data already: choose another, or remove it")

// DirName is the name of a run's directory: records sort by their start.
func DirName(start time.Time, runID string) string {
	return start.UTC().Format("20060102T150405Z") + "-" + runID
}

// MakeDir makes a directory for a record, which its user alone may look into, or takes one that is empty, or that a killed ds2
// had not got further with than to begin its first summary; otherwise ErrNotEmpty is in its error.
func MakeDir(dir string) error {
	if err := CheckDir(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create record: %w", err)
	}
	if err := atomicfile.RemoveLeft(dir); err != nil {
		return fmt.Errorf("create record: %w", err)
	}
	return nil
}

// CheckDir is an error where dir is there and not empty.
func CheckDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("create record: %w", err)
	}
	for _, e := range entries {
		if target, ok := atomicfile.Target(e.Name()); !ok || target != SummaryFile || !e.Type().IsRegular() {
			return fmt.Errorf("create record in %s: %w", dir, ErrNotEmpty)
		}
	}
	return nil
}

// Create begins the record of a run in dir, which must not exist or be empty. Its samples have the workload's own counts.
func Create(dir string, s Summary, own ...string) (*Writer, error) {
	if err := MakeDir(dir); err != nil {
		return nil, err
	}
	var err error
	w := &Writer{columns: samplesColumns(own)}
	for _, f := range []struct {
		file    **csvFile
		name    string
		columns []string
	}{
		{&w.samples, SamplesFile, columnNames(w.columns)},
		{&w.histograms, HistogramsFile, columnNames(histogramsColumns)},
		{&w.slowest, SlowestFile, columnNames(slowestColumns)},
	} {
		if *f.file, err = createCSV(filepath.Join(dir, f.name), f.columns); err != nil {
			break
		}
	}
	if err == nil {
		w.log, err = createLog(filepath.Join(dir, LogFile), filepath.Join(dir, OlderLogFile))
	}
	if err != nil {
		err = fmt.Errorf("create record: %w", err)
	} else {
		err = SaveSummary(dir, s)
	}
	if err != nil {
		return nil, errors.Join(err, w.closeFiles())
	}
	return w, nil
}

// Log is where the run's log goes.
func (w *Writer) Log() io.Writer { return w.log }

// Sample appends a sample. A crash of ds2 loses it until the end of the interval.
func (w *Writer) Sample(s measure.Sample) error {
	w.fields = appendLine(w.fields[:0], w.columns, &s)
	if err := w.samples.write(w.fields); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Interval appends the histograms of an interval and its slowest orders, and flushes.
func (w *Writer) Interval(iv measure.Interval) error {
	var err error
	for _, name := range slices.Sorted(maps.Keys(iv.Histograms)) {
		h := histogram{iv.From, iv.To, name, iv.Histograms[name], iv.Sums[name]}
		w.fields = appendLine(w.fields[:0], histogramsColumns, &h)
		err = errors.Join(err, w.histograms.write(w.fields))
	}
	for i := range iv.Slowest {
		w.fields = appendLine(w.fields[:0], slowestColumns, &iv.Slowest[i])
		err = errors.Join(err, w.slowest.write(w.fields))
	}
	if err != nil {
		err = fmt.Errorf("write record: %w", err)
	}
	return errors.Join(err, w.Flush())
}

// Flush makes readable what was appended. A crash of ds2 no longer loses it.
func (w *Writer) Flush() error {
	if err := errors.Join(w.samples.flush(), w.histograms.flush(), w.slowest.flush()); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Close ends the files that grew with the run, on disk to the last byte. The summary is for SaveSummary.
func (w *Writer) Close() error {
	if err := w.closeFiles(); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

func (w *Writer) closeFiles() error {
	var err error
	for _, f := range []*csvFile{w.samples, w.histograms, w.slowest} {
		if f != nil {
			err = errors.Join(err, f.close())
		}
	}
	if w.log != nil {
		err = errors.Join(err, w.log.Close())
	}
	return err
}
