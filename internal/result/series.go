package result

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	type sample = measure.Sample
	operations := map[string]string{} // names, so that a day's samples share them
	columns := []column[sample]{
		seconds("t_s", func(s *sample) *time.Duration { return &s.End }),
		word("phase", func(s *sample) *measure.Phase { return &s.Phase }),
		integer("users", func(s *sample) *int { return &s.Users }),
		integer("held_up", func(s *sample) *int { return &s.HeldUp }),
		integer("orders", func(s *sample) *int64 { return &s.Counts.Orders }),
		integer("errors", func(s *sample) *int64 { return &s.Errors }),
		integer("retries", func(s *sample) *int64 { return &s.Counts.Retries }),
		integer("reconnects", func(s *sample) *int64 { return &s.Counts.Reconnects }),
		integer("given_up", func(s *sample) *int64 { return &s.Counts.GivenUp }),
		integer("offered", func(s *sample) *int64 { return &s.Counts.Offered }),
		integer("dropped", func(s *sample) *int64 { return &s.Counts.Dropped }),
		integer("own_ns", func(s *sample) *time.Duration { return &s.OwnTime }),
		decimal("mean_ms", func(s *sample) *float64 { return &s.Mean }),
		decimal("p95_ms", func(s *sample) *float64 { return &s.P95 }),
		decimal("max_ms", func(s *sample) *float64 { return &s.Max }),
		{"operations_p95_ms", operationsText, func(s *sample, text string) error {
			return readNumbers(text, operations, func(name string, p95 float64) {
				s.Operations = append(s.Operations, measure.OperationP95{Name: name, P95: p95})
			})
		}},
		{"failures", failuresText, func(s *sample, text string) error {
			return readNumbers(text, operations, func(name string, n float64) {
				of, class, _ := strings.Cut(name, ":")
				s.Failures = append(
					s.Failures,
					measure.FailureCount{Operation: of, Class: class, Count: int64(n)},
				)
			})
		}},
	}
	for place, name := range own {
		columns = append(columns, integer(name, func(s *sample) *int64 {
			return &s.Counts.Own[place]
		}))
	}
	return columns
}

func operationsText(s *measure.Sample) string {
	var all []string
	for _, o := range s.Operations {
		all = append(all, fmt.Sprintf("%s=%.2f", o.Name, o.P95))
	}
	return strings.Join(all, " ")
}

func failuresText(s *measure.Sample) string {
	var all []string
	for _, f := range s.Failures {
		all = append(all, fmt.Sprintf("%s:%s=%d", f.Operation, f.Class, f.Count))
	}
	return strings.Join(all, " ")
}

// maxNames is more than any workload has operations, with the classes of their failures.
const maxNames = 1000

// readNumbers hands the names and numbers of a text such as login=1.25 to take. There is one copy
// of a name for all samples.
func readNumbers(text string, known map[string]string, take func(name string, n float64)) error {
	for _, field := range strings.Fields(text) {
		name, digits, _ := strings.Cut(field, "=")
		n, err := number(digits)
		if err != nil {
			return err
		}
		if _, there := known[name]; !there {
			if len(known) == maxNames {
				return fmt.Errorf(
					"there are more than %d operations: ds2 did not write them",
					maxNames,
				)
			}
			known[strings.Clone(name)] = strings.Clone(name)
		}
		take(known[name], n)
	}
	return nil
}

func sampleLines(samples *[]measure.Sample) reader {
	return func(names []string) (func([]string) error, error) {
		all := columnNames(samplesColumns(nil))
		var own []string
		for _, name := range names {
			if !slices.Contains(all, name) {
				own = append(own, strings.Clone(name))
			}
		}
		if err := measure.CheckOwn(own); err != nil {
			return nil, err
		}
		var last time.Duration
		return lines(names, samplesColumns(own), func(s measure.Sample) error {
			if s.End <= last {
				return fmt.Errorf(
					"t_s: %v s is not after the sample before, of %v s",
					s.End.Seconds(),
					last.Seconds(),
				)
			}
			if !slices.Contains(measure.Phases, s.Phase) {
				return fmt.Errorf("phase: invalid phase of a run %q", s.Phase)
			}
			s.Counts.Names = &own
			s.Length, last = s.End-last, s.End
			*samples = append(*samples, s)
			return nil
		})
	}
}

// histogram is a line of HistogramsFile: the response times of a series in an interval, and their
// exact sum. The lines of one interval stand together.
type histogram struct {
	from, to     time.Duration
	series, text string
	sum          time.Duration
}

var histogramsColumns = []column[histogram]{
	seconds("from_s", func(h *histogram) *time.Duration { return &h.from }),
	seconds("to_s", func(h *histogram) *time.Duration { return &h.to }),
	word("series", func(h *histogram) *string { return &h.series }),
	integer("sum_ns", func(h *histogram) *time.Duration { return &h.sum }),
	word("hdrhistogram", func(h *histogram) *string { return &h.text }),
}

// slowestColumns are those of SlowestFile: times in microseconds since the first orders.
var slowestColumns = []column[measure.SlowOrder]{
	microseconds("from_us", func(o *measure.SlowOrder) *time.Duration { return &o.From }),
	microseconds("to_us", func(o *measure.SlowOrder) *time.Duration { return &o.To }),
	word("operation", func(o *measure.SlowOrder) *string { return &o.Operation }),
	microseconds("operation_from_us", func(o *measure.SlowOrder) *time.Duration {
		return &o.OperationFrom
	}),
	microseconds("operation_to_us", func(o *measure.SlowOrder) *time.Duration {
		return &o.OperationTo
	}),
}

func slowestLines(all *[]measure.SlowOrder) reader {
	return func(names []string) (func([]string) error, error) {
		return lines(names, slowestColumns, func(o measure.SlowOrder) error {
			if o.To < o.From || o.OperationTo < o.OperationFrom {
				return fmt.Errorf(
					"from_us: the order of %v s ends before it began",
					o.From.Seconds(),
				)
			}
			*all = append(*all, o)
			return nil
		})
	}
}

// maxHistogramBytes is what the histograms of a record may come to, as text: a day of a run takes
// less than 20 MB.
const maxHistogramBytes = 1 << 30

func intervalLines(all *[]measure.Interval) reader {
	size := 0
	last := measure.Interval{}
	return func(names []string) (func([]string) error, error) {
		return lines(names, histogramsColumns, func(h histogram) error {
			if len(*all) == 0 || last.From != h.from || last.To != h.to {
				if h.from < last.To || h.to <= h.from {
					return fmt.Errorf(
						"from_s: the interval from %v s to %v s does not follow the one before",
						h.from.Seconds(),
						h.to.Seconds(),
					)
				}
				last = measure.NewInterval(h.from, h.to)
				*all = append(*all, last)
			}
			if _, again := last.Histograms[h.series]; again {
				return fmt.Errorf("series: %q appears twice in an interval", h.series)
			}
			last.Histograms[h.series] = h.text
			last.Sums[h.series] = h.sum
			if size += len(h.text); size > maxHistogramBytes {
				return fmt.Errorf(
					"hdrhistogram: the histograms come to more than %d bytes: ds2 did not write them",
					maxHistogramBytes,
				)
			}
			if err := measure.CheckHistogram(h.text); err != nil {
				return fmt.Errorf("hdrhistogram: %w", err)
			}
			return nil
		})
	}
}
