package result

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ds2/internal/atomicfile"
	"ds2/internal/measure"
)

// Writer writes the record of a run as it goes, and keeps nothing of it. It is used by one
// goroutine.
type Writer struct {
	samples    *csvFile[measure.Sample]
	histograms *csvFile[histogram]
	slowest    *csvFile[measure.SlowOrder]
	log        *logFile
}

// ErrNotEmpty says that the directory for a record holds something already.
var ErrNotEmpty = errors.New("the directory holds data already: choose another, or remove it")

// DirName is the name of a run's directory: records sort by their start.
func DirName(start time.Time, runID string) string {
	return start.UTC().Format("20060102T150405Z") + "-" + runID
}

// MakeDir makes a directory for a record, which its user alone may look into, or takes one that is
// empty, or that a killed ds2 had not got further with than to begin its first summary; otherwise
// ErrNotEmpty is in its error.
func MakeDir(dir string) error {
	if err := CheckDir(dir); err != nil {
		return err
	}
	return created(cmp.Or(os.MkdirAll(dir, 0o700), atomicfile.RemoveLeft(dir)))
}

// CheckDir is an error where dir is there and not empty.
func CheckDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("create record: %w", err)
	}
	for _, e := range entries {
		if target, ok := atomicfile.Target(e.Name()); !ok || target != SummaryFile ||
			!e.Type().IsRegular() {
			return fmt.Errorf("create record in %s: %w", dir, ErrNotEmpty)
		}
	}
	return nil
}

// Create begins the record of a run in dir, which must not exist or be empty. Its samples have the
// workload's own counts.
func Create(dir string, s Summary, own ...string) (*Writer, error) {
	if err := MakeDir(dir); err != nil {
		return nil, err
	}
	w := &Writer{}
	var errs [4]error
	w.samples, errs[0] = createCSV(filepath.Join(dir, SamplesFile), samplesColumns(own))
	w.histograms, errs[1] = createCSV(filepath.Join(dir, HistogramsFile), columnsOf[histogram]())
	w.slowest, errs[2] = createCSV(filepath.Join(dir, SlowestFile), columnsOf[measure.SlowOrder]())
	w.log, errs[3] = createLog(filepath.Join(dir, LogFile))
	err := cmp.Or(errs[:]...)
	if err == nil {
		err = SaveSummary(dir, s)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Log writes to run.log.
func (w *Writer) Log() io.Writer { return w.log }

// Sample appends a sample. A crash of ds2 loses it until the end of the interval.
func (w *Writer) Sample(s measure.Sample) error { return w.samples.Write(&s) }

// RecordError says that the record of a run failed, on ds2's own machine: whatever the server under
// test did, the run says nothing against it.
type RecordError struct{ error }

// Unwrap gives the cause.
func (e *RecordError) Unwrap() error { return e.error }

// OfRecord is an error of something done to a record; nil where there is none.
func OfRecord(doing string, err error) error {
	if err == nil {
		return nil
	}
	return &RecordError{fmt.Errorf("%s: %w", doing, err)}
}

func created(err error) error { return OfRecord("create record", err) }

func written(err error) error { return OfRecord("write record", err) }

// Interval appends the histograms of an interval and its slowest orders, and flushes: a crash of
// ds2 no longer loses what was appended.
func (w *Writer) Interval(iv measure.Interval) error {
	for _, name := range slices.Sorted(maps.Keys(iv.Histograms)) {
		w.histograms.Write(&histogram{iv.From, iv.To, name, iv.Sums[name], iv.Histograms[name]})
	}
	for i := range iv.Slowest {
		w.slowest.Write(&iv.Slowest[i])
	}
	return errors.Join(w.samples.Flush(), w.histograms.Flush(), w.slowest.Flush())
}

// End ends the files that grew with the run, on disk to the last byte. The summary is for
// SaveSummary.
func (w *Writer) End() error {
	return errors.Join(w.samples.End(), w.histograms.End(), w.slowest.End())
}

// Series reads what was written, also where the files have lost their names: the directory of a run
// of days may have been moved or removed, and the run still comes to its conclusion.
func (w *Writer) Series() (measure.Series, error) {
	files := map[string]*os.File{
		SamplesFile: w.samples.file, HistogramsFile: w.histograms.file, SlowestFile: w.slowest.file,
	}
	open := opener(func(name string) (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(files[name], 0, math.MaxInt64)), nil
	})
	return open.readSeries("", false)
}

// Close ends the files and lets go of them.
func (w *Writer) Close() error {
	return errors.Join(w.samples.Close(), w.histograms.Close(), w.slowest.Close(), w.log.close())
}
