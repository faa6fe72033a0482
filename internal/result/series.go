package result

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unique"

	"ds2/internal/measure"
)

// samplesColumns are those of SamplesFile. t_s is when the sample ended; its counts are those since
// the sample before, failed attempts of all classes under errors, and its times, in milliseconds,
// those of the orders completed since; held_up are the users that wait to try again what failed, or
// connect again; own_ns is the sum of their response times in the workload's own meaning, in
// nanoseconds. operations_p95_ms is that of each operation that was called, as login=1.25
// browse_by_title=3.50, and failures the failed attempts, as login:deadlock=2. Behind them stands
// what the workload counts of its own, a column each.
func samplesColumns(own []string) []column[measure.Sample] {
	columns := append(columnsOf[measure.Sample](),
		listed("operations_p95_ms",
			func(s *measure.Sample) *[]measure.OperationP95 { return &s.Operations },
			func(o measure.OperationP95) string { return fmt.Sprintf("%s=%.2f", o.Name, o.P95) },
			func(name string, p95 float64) measure.OperationP95 {
				return measure.OperationP95{Name: name, P95: p95}
			}),
		listed("failures",
			func(s *measure.Sample) *[]measure.FailureCount { return &s.Failures },
			func(f measure.FailureCount) string {
				return fmt.Sprintf("%s:%s=%d", f.Operation, f.Class, f.Count)
			},
			func(name string, n float64) measure.FailureCount {
				operation, class, _ := strings.Cut(name, ":")
				return measure.Failure{Operation: operation, Class: class}.Count(int64(n), "")
			}),
	)
	for place, name := range own {
		columns = append(columns, newColumn(name, func(s *measure.Sample) reflect.Value {
			return reflect.ValueOf(&s.Counts.Own[place]).Elem()
		}))
	}
	return columns
}

// listed is a column of names with a number each, such as login=1.25. There is one copy of a name
// for all samples of a day.
func listed[V any](
	name string,
	of func(*measure.Sample) *[]V,
	format func(V) string,
	parse func(name string, n float64) V,
) column[measure.Sample] {
	return column[measure.Sample]{name, func(s *measure.Sample) string {
		var all []string
		for _, v := range *of(s) {
			all = append(all, format(v))
		}
		return strings.Join(all, " ")
	}, func(s *measure.Sample, text string) error {
		for field := range strings.FieldsSeq(text) {
			name, digits, _ := strings.Cut(field, "=")
			n, err := number(digits)
			if err != nil {
				return err
			}
			*of(s) = append(*of(s), parse(unique.Make(name).Value(), n))
		}
		return nil
	}}
}

func sampleLines(samples *[]measure.Sample) reader {
	return func(names []string) (func([]string) error, error) {
		// Columns that ds2 does not have itself are counts of the workload.
		var own []string
		for _, name := range names {
			if !slices.ContainsFunc(samplesColumns(nil), func(c column[measure.Sample]) bool {
				return c.name == name
			}) {
				own = append(own, strings.Clone(name))
			}
		}
		if err := measure.CheckOwn(own); err != nil {
			return nil, err
		}
		var last time.Duration
		return lines(samplesColumns(own), func(s measure.Sample) error {
			if s.End <= last {
				return fmt.Errorf("t_s: %v s is not after the sample before, of %v s",
					s.End.Seconds(), last.Seconds())
			}
			if !slices.Contains(measure.Phases, s.Phase) {
				return fmt.Errorf("phase: invalid phase of a run %q", s.Phase)
			}
			s.Counts.Names = &own
			s.Length = s.End - last
			last = s.End
			*samples = append(*samples, s)
			return nil
		})(names)
	}
}

// histogram is a line of HistogramsFile: the response times of a series in an interval, and their
// exact sum. The lines of one interval stand together.
type histogram struct {
	From   time.Duration `csv:"from_s"`
	To     time.Duration `csv:"to_s"`
	Series string        `csv:"series"`
	Sum    time.Duration `csv:"sum_ns"`
	Text   string        `csv:"hdrhistogram"`
}

func slowestLines(all *[]measure.SlowOrder) reader {
	return lines(columnsOf[measure.SlowOrder](), func(o measure.SlowOrder) error {
		if o.To < o.From || o.OperationTo < o.OperationFrom {
			return fmt.Errorf("from_us: the order of %v s ends before it began", o.From.Seconds())
		}
		*all = append(*all, o)
		return nil
	})
}

// maxHistogramBytes is what the histograms of a record may come to, as text: a day of a run takes
// less than 20 MB.
const maxHistogramBytes = 1 << 30

func intervalLines(all *[]measure.Interval) reader {
	size := 0
	last := measure.Interval{}
	return lines(columnsOf[histogram](), func(h histogram) error {
		// Intervals that overlap would count an order twice in a window that has both.
		if len(*all) == 0 || last.From != h.From || last.To != h.To {
			if h.From < last.To || h.To <= h.From {
				return fmt.Errorf(
					"from_s: the interval from %v s to %v s does not follow the one before",
					h.From.Seconds(), h.To.Seconds())
			}
			last = measure.NewInterval(h.From, h.To)
			*all = append(*all, last)
		}
		if _, again := last.Histograms[h.Series]; again {
			return fmt.Errorf("series: %q appears twice in an interval", h.Series)
		}
		last.Histograms[h.Series] = h.Text
		last.Sums[h.Series] = h.Sum
		if size += len(h.Text); size > maxHistogramBytes {
			return fmt.Errorf(
				"hdrhistogram: the histograms come to more than %d bytes: ds2 did not write them",
				maxHistogramBytes)
		}
		if err := measure.CheckHistogram(h.Text); err != nil {
			return fmt.Errorf("hdrhistogram: %w", err)
		}
		return nil
	})
}

// ReadSeries reads the samples and histograms of the record in dir, of a run that ended or may not
// have.
func ReadSeries(dir string, ended bool) (measure.Series, error) {
	return openFile.readSeries(dir, ended)
}

func (open opener) readSeries(dir string, ended bool) (s measure.Series, err error) {
	err = cmp.Or(open.read(filepath.Join(dir, SamplesFile), ended, sampleLines(&s.Samples)),
		open.read(filepath.Join(dir, HistogramsFile), ended, intervalLines(&s.Intervals)),
		open.read(filepath.Join(dir, SlowestFile), ended, slowestLines(&s.Slow)))
	return s, err
}
