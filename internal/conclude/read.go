package conclude

import (
	"errors"
	"fmt"
	"path/filepath"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// Reader reads records, and concludes them over the windows that are asked for.
type Reader struct {
	Workloads map[string]Concluder // by name; one that adds nothing is not there
	Windows   []measure.WindowSpec // none: what each record came to by its own
}

// Run reads the record of a run. One that is still going, or whose ds2 crashed, is concluded as far as it got.
func (r Reader) Run(dir string) (*result.Record, error) {
	record, err := result.Read(dir)
	if err != nil {
		return nil, err
	}
	if len(r.Windows) > 0 || record.Status == result.Running {
		err = r.conclude(record)
	}
	return record, err
}

// Merged reads the records of one run that several driver machines made, and adds them up.
func (r Reader) Merged(dirs []string) (*result.Record, error) {
	records := make([]*result.Record, len(dirs))
	for i, dir := range dirs {
		var err error
		if records[i], err = result.Read(dir); err != nil {
			return nil, err
		}
	}
	one, err := result.Merge(records)
	if err != nil {
		return nil, err
	}
	return one, r.conclude(one)
}

// Bench reads the record of a bench, whose runs are concluded over the windows that are asked for.
func (r Reader) Bench(dir string) (result.Bench, error) {
	b, err := result.ReadBench(dir)
	if err != nil || len(r.Windows) == 0 {
		return b, err
	}
	for i := range b.Runs {
		run := &b.Runs[i]
		if run.Status != result.Done {
			continue
		}
		record, err := r.Run(filepath.Join(dir, run.Dir))
		if err != nil {
			return b, err
		}
		Digest(run, record.Summary)
	}
	Bench(&b)
	return b, nil
}

// BenchOrRun reads a bench, or a run as a bench of one.
func (r Reader) BenchOrRun(dir string) (result.Bench, error) {
	b, err := r.Bench(dir)
	if !errors.Is(err, result.ErrNoBench) {
		return b, err
	}
	record, err := r.Run(dir)
	if err != nil {
		return b, err
	}
	if record.Figure == nil {
		return b, fmt.Errorf("%s: the run has no result; it ended before its first window did", dir)
	}
	return Single(record.Summary), nil
}

// Input is what the conclusion of a record is drawn from.
func (r Reader) Input(record *result.Record) Input {
	return Input{Asked: record.Asked, Happened: record.Happened, Series: record.Series, Counters: record.Host, Own: r.Workloads[record.Workload]}
}

func (r Reader) conclude(record *result.Record) error {
	c, err := Of(r.Input(record), r.Windows)
	record.Conclusion = c
	switch {
	case err == nil:
		return nil
	case len(r.Windows) > 0:
		return &WindowError{fmt.Errorf("%s: %w", record.Dir, err)}
	}
	return fmt.Errorf("%s: %w", record.Dir, err)
}

// WindowError says that a record has not the windows that were asked for.
type WindowError struct{ err error }

func (e *WindowError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *WindowError) Unwrap() error { return e.err }
