package conclude

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// Reader reads records, and concludes them over the windows that are asked for.
type Reader struct {
	Workloads map[string]Concluder // by name; one that adds nothing is not there
	Windows   []measure.WindowSpec // none: what each record came to by its own
	AsWritten bool                 // a record is not held against its samples
}

// Run reads the record of a run. One that is still going, or whose ds2 crashed, is concluded as far
// as it got.
func (r Reader) Run(dir string) (*result.Record, error) {
	record, err := result.Read(dir)
	if err != nil {
		return nil, err
	}
	return record, r.Judge(record)
}

// Judge concludes a record over the windows that are asked for, or one that has no conclusion yet
// over its own.
func (r Reader) Judge(record *result.Record) error {
	if len(r.Windows) > 0 || record.Status == result.Running {
		return r.conclude(record)
	}
	Find(&record.Summary)
	// Findings are made anew even so, since an audit may have come after the run.
	if r.AsWritten {
		return nil
	}
	return r.checkAgainstSamples(record)
}

// checkAgainstSamples refuses a record whose summary is not what its samples come to.
func (r Reader) checkAgainstSamples(record *result.Record) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("read record: %s: %s: one of the two was changed",
			filepath.Join(record.Dir, result.SummaryFile), fmt.Sprintf(format, args...))
	}
	// Only a run that came to its end has promised that its samples are whole.
	if record.Status != result.Done || len(record.Conclusion.Windows) == 0 {
		return nil
	}
	if orders := record.Counted().Orders; orders != record.Counts.Orders {
		return wrong("it says %d %s, and the samples have %d", record.Counts.Orders,
			record.Words.Cycles, orders)
	}
	said := record.Conclusion.Windows[0]
	var windows []measure.WindowSpec
	if said.Name == measure.RunWindow && len(record.WindowTexts) == 0 { // by an earlier ds2
		run := record.Series.Phase(measure.PhaseRun)
		windows = []measure.WindowSpec{{Name: measure.RunWindow, Span: run}}
	}
	// What the samples come to by now, as if the run had just ended.
	again, err := Of(r.Input(record), windows)
	if len(again.Windows) == 0 {
		return err
	}
	found := again.Windows[0]
	was := cmp.Or(record.Figure, new(result.Figure))
	is := cmp.Or(again.Figure, new(result.Figure))
	if said.Name != found.Name || !equalRounded(said.OPM, found.OPM) {
		return wrong("it says %.0f %s in window %s, and the samples come to %.0f in window %s",
			said.OPM, record.Words.Rate, said.Name, found.OPM, found.Name)
	}
	if was.Unit != is.Unit || !equalRounded(was.Value, is.Value) {
		return wrong("its result is not that of window %s", found.Name)
	}
	return nil
}

// equalRounded tells whether two figures differ by no more than their rounding.
func equalRounded(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), 1) }

// Merged reads the records of one run that several driver machines made, and adds them up.
func (r Reader) Merged(dirs []string) (*result.Record, error) {
	// Conclusions are drawn from the sum alone: intervals of the parts do not add up to that of the
	// sum.
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

// Input is what the conclusion of a record is drawn from.
func (r Reader) Input(record *result.Record) Input {
	return Input{
		Spec: record.Spec, Happened: record.Happened, Series: record.Series, Counters: record.Host,
		Own: r.Workloads[record.Workload],
	}
}

func (r Reader) conclude(record *result.Record) error {
	c, err := Of(r.Input(record), r.Windows)
	record.Conclusion = c
	Find(&record.Summary)
	if err != nil {
		err = fmt.Errorf("%s: %w", record.Dir, err)
		if len(r.Windows) > 0 {
			err = &WindowError{err}
		}
	}
	return err
}

// WindowError says that a record has not the windows that were asked for.
type WindowError struct{ error }

func (e *WindowError) Unwrap() error { return e.error }
