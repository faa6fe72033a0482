package result

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ds2/internal/measure"
)

// Writer writes the record of a run as it goes. It is used by one goroutine.
type Writer struct {
	dir                 string
	samples, histograms *os.File
	zip                 *gzip.Writer // into histograms
	log                 *logFile
}

// ErrNotEmpty says that the folder for a record holds something already.
var ErrNotEmpty = errors.New("the folder holds data already: choose another, or remove it")

// DirName is the name of a run's folder: records sort by their start.
func DirName(start time.Time, runID string) string {
	return start.UTC().Format("20060102T150405Z") + "-" + runID
}

// MakeDir makes a folder for a record, or takes one that is empty; otherwise ErrNotEmpty is in its error.
func MakeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("create record: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("create record: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("create record in %s: %w", dir, ErrNotEmpty)
	}
	return nil
}

// Create begins the record of a run in dir, which must not exist or be empty.
func Create(dir string, s Summary) (*Writer, error) {
	if err := MakeDir(dir); err != nil {
		return nil, err
	}
	var err error
	w := &Writer{dir: dir}
	for _, f := range []struct {
		file   **os.File
		name   string
		header string
	}{
		{&w.samples, SamplesFile, samplesHeader},
		{&w.histograms, HistogramsFile, ""},
	} {
		if *f.file, err = os.Create(filepath.Join(dir, f.name)); err == nil {
			_, err = (*f.file).WriteString(f.header)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("create record: %w", err), w.closeFiles())
		}
	}
	w.zip = gzip.NewWriter(w.histograms)
	if _, err := io.WriteString(w.zip, histogramsHeader); err != nil {
		return nil, errors.Join(fmt.Errorf("create record: %w", err), w.closeFiles())
	}
	if w.log, err = createLog(filepath.Join(dir, LogFile), filepath.Join(dir, OlderLogFile)); err != nil {
		return nil, errors.Join(fmt.Errorf("create record: %w", err), w.closeFiles())
	}
	if err := w.Save(s); err != nil {
		return nil, errors.Join(err, w.closeFiles())
	}
	return w, nil
}

// Dir is the record's folder.
func (w *Writer) Dir() string { return w.dir }

// Log is where the run's log goes.
func (w *Writer) Log() io.Writer { return w.log }

// Save writes the summary as it stands.
func (w *Writer) Save(s Summary) error { return SaveSummary(w.dir, s) }

// Sample appends a sample.
func (w *Writer) Sample(s measure.Sample) error {
	if _, err := w.samples.WriteString(formatSample(s)); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Interval appends the histograms of an interval.
func (w *Writer) Interval(iv measure.Interval) error {
	series := make([]string, 0, len(iv.Histograms))
	for name := range iv.Histograms {
		series = append(series, name)
	}
	slices.Sort(series)
	for _, name := range series {
		_, err := fmt.Fprintf(w.zip, "%.3f,%.3f,%s,%s\n", iv.From.Seconds(), iv.To.Seconds(), name, iv.Histograms[name])
		if err != nil {
			return fmt.Errorf("write record: %w", err)
		}
	}
	if err := w.zip.Flush(); err != nil { // a crash of ds2 loses nothing that stands here
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Close ends the record with its last summary, on disk to the last byte.
func (w *Writer) Close(s Summary) error {
	err := errors.Join(w.zip.Close(), w.samples.Sync(), w.histograms.Sync())
	if err != nil {
		err = fmt.Errorf("write record: %w", err)
	}
	return errors.Join(err, w.closeFiles(), w.Save(s))
}

func (w *Writer) closeFiles() error {
	var err error
	for _, f := range []*os.File{w.samples, w.histograms} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	if w.log != nil {
		err = errors.Join(err, w.log.Close())
	}
	return err
}
