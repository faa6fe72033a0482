package result

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
)

// checkNumbers is an error where a number in v is negative although its like are counted, or larger
// than maxCounter; name is that of v in the record. It walks whatever struct a summary is decoded
// into, so that a figure that is added to the record is bounded without a line here. Floats may be
// negative: a drift, or the time of a sample before the first orders.
func checkNumbers(v reflect.Value, name string) (err error) {
	possible := true
	switch v.Kind() {
	case reflect.Float64:
		possible = math.Abs(v.Float()) <= maxCounter
	case reflect.Int, reflect.Int64:
		possible = v.Int() >= 0
	case reflect.Pointer, reflect.Interface:
		return checkNumbers(v.Elem(), name)
	case reflect.Slice, reflect.Array, reflect.Map:
		for at, of := range v.Seq2() {
			err = cmp.Or(err, checkNumbers(of, fmt.Sprintf("%s[%#v]", name, at)))
		}
	case reflect.Struct:
		for field, of := range v.Fields() {
			if field.IsExported() {
				err = cmp.Or(err, checkNumbers(of, name+"."+field.Name))
			}
		}
	}
	if !possible {
		return fmt.Errorf("%s is %v, which cannot have been measured", name, v)
	}
	return err
}

var statuses = []Status{Running, Done, Failed, Interrupted, Aborted}

// check says what is wrong with a summary: what no ds2 writes, and what would make a reader
// stumble.
func (s *Summary) check() error {
	targets := len(s.Targets)
	for name, length := range map[string]int{ // each target has its place in them
		"servers":      len(s.Servers),
		"by_target":    len(s.ByTarget),
		"marks_before": len(s.Before),
		"marks_after":  len(s.After),
		"deep_checks":  len(s.DeepChecks),
		"data_seeds":   len(s.DataSeeds),
	} {
		if length > targets {
			return fmt.Errorf("it has %d of %s for %d targets", length, name, targets)
		}
	}
	if !slices.Contains(statuses, s.Status) {
		return fmt.Errorf("unknown status %q", s.Status)
	}
	if !s.End.IsZero() && s.End.Before(s.Start) {
		return fmt.Errorf("it ends at %s, before its start at %s", s.End, s.Start)
	}
	if a := s.Audit; a != nil && a.Passed != (a.NotAudited == "" && Passed(a.Checks)) {
		return errors.New("its audit contradicts its checks")
	}
	if s.Figure != nil && len(s.Windows) == 0 {
		return errors.New("it has a result but no window for it")
	}
	for _, section := range s.Sections {
		odd := func(row []string) bool { return len(row) != len(section.Head) || len(row) == 0 }
		if slices.ContainsFunc(section.Rows, odd) {
			return fmt.Errorf("a row of its section %q has more or fewer cells than the header",
				section.Title)
		}
	}
	if err := s.Headline.check(); err != nil {
		return err
	}
	if s.CumulativeOPM != nil && *s.CumulativeOPM < 0 {
		return errors.New("its cumulative OPM is negative")
	}
	for _, w := range s.Windows {
		if min(w.From, w.OPM, w.LatencyFrom) < 0 || w.To <= w.From || w.LatencyTo < w.LatencyFrom ||
			max(w.To, w.LatencyTo) > maxSeconds {
			return fmt.Errorf(
				"its window %q, of %v OPM from %v s to %v s, cannot have been measured",
				w.Name, w.OPM, w.From, w.To)
		}
		for name, l := range w.Latency {
			if min(l.Mean, l.P25, l.P50, l.P75, l.P95, l.P99, l.P999, l.Max) < 0 {
				return fmt.Errorf("in its window %q the response times of %q are negative", w.Name,
					name)
			}
		}
	}
	return nil
}

func (b *Bench) check() error {
	if !slices.Contains(statuses, b.Status) {
		return fmt.Errorf("unknown status %q", b.Status)
	}
	for _, r := range b.Runs {
		if !filepath.IsLocal(r.Dir) {
			return fmt.Errorf("the directory %q of a run does not lie in it", r.Dir)
		}
		if err := r.Headline.check(); err != nil {
			return fmt.Errorf("%q: %w", r.Dir, err)
		}
		if r.Counts && r.Figure == nil {
			return fmt.Errorf("%q counts and has no result", r.Dir)
		}
	}
	if err := b.Headline.check(); err != nil {
		return err
	}
	if b.Median != "" && !slices.ContainsFunc(b.Runs, func(r BenchRun) bool {
		return r.Dir == b.Median
	}) {
		return fmt.Errorf("its median %q is not one of its runs", b.Median)
	}
	return nil
}
