package result

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"ds2/internal/measure"
)

// The columns of SamplesFile and HistogramsFile. t_s is when the sample ended; its counts are those since the sample
// before, failed attempts of all classes under errors, and its times, in milliseconds, those of the orders completed
// since; ds2_ns is the sum of their response times in DS2's meaning, in nanoseconds, and sum_ns that of a series. Columns
// are found by their names, and those that a record lacks are zero.
var (
	samplesColumns    = slices.Concat([]string{"t_s", "phase", "users"}, countNames(), []string{"mean_ms", "p95_ms", "max_ms"})
	histogramsColumns = []string{"from_s", "to_s", "series", "sum_ns", "hdrhistogram"}
)

var sampleCounts = []struct {
	column string
	of     func(*measure.Sample) *int64
}{
	{"orders", func(s *measure.Sample) *int64 { return &s.Counts.Orders }},
	{"purchases", func(s *measure.Sample) *int64 { return &s.Counts.Purchases }},
	{"rollbacks", func(s *measure.Sample) *int64 { return &s.Counts.Rollbacks }},
	{"new_customers", func(s *measure.Sample) *int64 { return &s.Counts.NewCustomers }},
	{"errors", func(s *measure.Sample) *int64 { return &s.Errors }},
	{"retries", func(s *measure.Sample) *int64 { return &s.Counts.Retries }},
	{"reconnects", func(s *measure.Sample) *int64 { return &s.Counts.Reconnects }},
	{"in_doubt_purchases", func(s *measure.Sample) *int64 { return &s.Counts.InDoubtPurchases }},
	{"in_doubt_customers", func(s *measure.Sample) *int64 { return &s.Counts.InDoubtCustomers }},
	{"in_doubt_cents", func(s *measure.Sample) *int64 { return &s.Counts.InDoubtTotalCents }},
	{"given_up", func(s *measure.Sample) *int64 { return &s.Counts.GivenUp }},
	{"total_cents", func(s *measure.Sample) *int64 { return &s.Counts.TotalCents }},
	{"names_taken", func(s *measure.Sample) *int64 { return &s.Counts.NamesTaken }},
	{"unknown_users", func(s *measure.Sample) *int64 { return &s.Counts.UnknownUsers }},
	{"offered", func(s *measure.Sample) *int64 { return &s.Counts.Offered }},
	{"dropped", func(s *measure.Sample) *int64 { return &s.Counts.Dropped }},
	{"ds2_ns", func(s *measure.Sample) *int64 { return (*int64)(&s.DS2Time) }},
}

func countNames() (names []string) {
	for _, c := range sampleCounts {
		names = append(names, c.column)
	}
	return names
}

// appendSample appends the fields of a sample.
func appendSample(fields []string, s measure.Sample) []string {
	fields = append(fields, secondsText(s.End), string(s.Phase), strconv.Itoa(s.Users))
	for _, c := range sampleCounts {
		fields = append(fields, strconv.FormatInt(*c.of(&s), 10))
	}
	for _, ms := range []float64{s.Mean, s.P95, s.Max} {
		fields = append(fields, strconv.FormatFloat(ms, 'f', 2, 64))
	}
	return fields
}

func secondsText(t time.Duration) string { return strconv.FormatFloat(t.Seconds(), 'f', 3, 64) }

// readSamples reads SamplesFile.
func readSamples(path string) ([]measure.Sample, error) {
	var samples []measure.Sample
	var last time.Duration
	err := readHourly(path, func(columns []string) func([]string) error {
		at := index(columns)
		return func(fields []string) error {
			r := fieldReader{fields: fields, at: at}
			s := measure.Sample{End: r.seconds("t_s"), Phase: measure.Phase(r.text("phase")), Users: int(r.integer("users"))}
			for _, c := range sampleCounts {
				*c.of(&s) = r.integer(c.column)
			}
			s.Mean, s.P95, s.Max = r.float("mean_ms"), r.float("p95_ms"), r.float("max_ms")
			s.Length, last = s.End-last, s.End
			samples = append(samples, s)
			return r.err
		}
	})
	return samples, err
}

// readIntervals reads HistogramsFile, whose lines of one interval stand together.
func readIntervals(path string) ([]measure.Interval, error) {
	var intervals []measure.Interval
	err := readHourly(path, func(columns []string) func([]string) error {
		at := index(columns)
		return func(fields []string) error {
			r := fieldReader{fields: fields, at: at}
			from, to := r.seconds("from_s"), r.seconds("to_s")
			if n := len(intervals); n == 0 || intervals[n-1].From != from {
				intervals = append(intervals, measure.Interval{From: from, To: to, Histograms: map[string]string{}, Sums: map[string]time.Duration{}})
			}
			last, series := &intervals[len(intervals)-1], r.text("series")
			last.Histograms[series] = r.text("hdrhistogram")
			if _, exact := at["sum_ns"]; exact {
				last.Sums[series] = time.Duration(r.integer("sum_ns"))
			}
			return r.err
		}
	})
	return intervals, err
}

// index is where each column stands.
func index(columns []string) map[string]int {
	at := map[string]int{}
	for i, name := range columns {
		at[name] = i
	}
	return at
}

// fieldReader reads the fields of a line by the names of their columns and keeps the first error.
type fieldReader struct {
	fields []string
	at     map[string]int
	err    error
}

// text is a field as it stands; empty where the file has no such column.
func (r *fieldReader) text(column string) string {
	i, ok := r.at[column]
	if !ok {
		return ""
	}
	return r.fields[i]
}

func (r *fieldReader) integer(column string) int64 {
	if _, ok := r.at[column]; !ok {
		return 0
	}
	n, err := strconv.ParseInt(r.text(column), 10, 64)
	r.fail(column, err)
	return n
}

func (r *fieldReader) float(column string) float64 {
	if _, ok := r.at[column]; !ok {
		return 0
	}
	f, err := strconv.ParseFloat(r.text(column), 64)
	r.fail(column, err)
	return f
}

func (r *fieldReader) fail(column string, err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%s: %w", column, err)
	}
}

func (r *fieldReader) seconds(column string) time.Duration {
	return time.Duration(r.float(column)*1000+0.5) * time.Millisecond
}
