package result

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ds2/internal/measure"
)

// The columns of SamplesFile and HistogramsFile. t_s is when the sample ended; its counts are those since the sample
// before, failed attempts of all classes under errors, and its times, in milliseconds, those of the orders completed
// since; own_ns is the sum of their response times in DS2's meaning, in nanoseconds, and sum_ns that of a series. operations_p95_ms
// is that of each operation that was called, as login=1.25 browse_by_title=3.50. Columns
// are found by their names; a record lacks at most the last ones, laterColumns. Samples have besides what the workload counts of its
// own, one column each.
var (
	samplesColumns    = columnsWith(sampleCounts)
	histogramsColumns = []string{"from_s", "to_s", "series", "sum_ns", "hdrhistogram"}

	// laterColumns are missing in records of the first version.
	laterColumns = []string{"own_ns", "sum_ns", "operations_p95_ms"}
)

// sampleCount is a column of counts, and where a sample has them.
type sampleCount struct {
	column string
	of     func(*measure.Sample) *int64
}

// sampleCounts are those of every workload.
var sampleCounts = []sampleCount{
	{"orders", func(s *measure.Sample) *int64 { return &s.Counts.Orders }},
	{"errors", func(s *measure.Sample) *int64 { return &s.Errors }},
	{"retries", func(s *measure.Sample) *int64 { return &s.Counts.Retries }},
	{"reconnects", func(s *measure.Sample) *int64 { return &s.Counts.Reconnects }},
	{"given_up", func(s *measure.Sample) *int64 { return &s.Counts.GivenUp }},
	{"offered", func(s *measure.Sample) *int64 { return &s.Counts.Offered }},
	{"dropped", func(s *measure.Sample) *int64 { return &s.Counts.Dropped }},
	{"own_ns", func(s *measure.Sample) *int64 { return (*int64)(&s.OwnTime) }},
}

// columnsWith are the columns of samples with some counts.
func columnsWith(counts []sampleCount) []string {
	columns := []string{"t_s", "phase", "users"}
	for _, c := range counts {
		columns = append(columns, c.column)
	}
	return append(columns, "mean_ms", "p95_ms", "max_ms", "operations_p95_ms")
}

// Count is something that a workload counts besides what is counted of any. It only grows: a sum that may fall is two counts.
type Count struct {
	Name  string // in summaries
	After string // the column of samples behind which its own stands
}

// Names are the names of counts.
func Names(counts []Count) []string {
	names := make([]string, len(counts))
	for i, c := range counts {
		names[i] = c.Name
	}
	return names
}

// shortColumn is a column that has a shorter name than its count has in summaries.
var shortColumn = struct{ column, name string }{"in_doubt_cents", "in_doubt_total_cents"}

// ownCount is the column of a workload's own count, at its place among them.
func ownCount(column string, place int) sampleCount {
	return sampleCount{column, func(s *measure.Sample) *int64 { return &s.Counts.Own[place] }}
}

// withOwn are the columns of counts in the samples of a workload.
func withOwn(own []Count) []sampleCount {
	counts := slices.Clone(sampleCounts)
	for place, c := range own {
		column := c.Name
		if column == shortColumn.name {
			column = shortColumn.column
		}
		after := slices.IndexFunc(counts, func(other sampleCount) bool { return other.column == c.After })
		counts = slices.Insert(counts, after+1, ownCount(column, place))
	}
	return counts
}

// appendSample appends the fields of a sample.
func appendSample(fields []string, s measure.Sample, counts []sampleCount) []string {
	fields = append(fields, secondsText(s.End), string(s.Phase), strconv.Itoa(s.Users))
	for _, c := range counts {
		fields = append(fields, strconv.FormatInt(*c.of(&s), 10))
	}
	for _, ms := range []float64{s.Mean, s.P95, s.Max} {
		fields = append(fields, strconv.FormatFloat(ms, 'f', 2, 64))
	}
	var operations []byte
	for i, o := range s.Operations {
		if i > 0 {
			operations = append(operations, ' ')
		}
		operations = strconv.AppendFloat(append(append(operations, o.Name...), '='), o.P95, 'f', 2, 64)
	}
	return append(fields, string(operations))
}

// maxOperations is more than any workload has.
const maxOperations = 100

// operations reads the field of operations. Names come from known, so that a day's samples share them.
func (r *fieldReader) operations(column string, known map[string]string) []measure.OperationP95 {
	text := r.text(column)
	if text == "" {
		return nil
	}
	fields := strings.Fields(text)
	all := make([]measure.OperationP95, 0, len(fields))
	for _, field := range fields {
		name, ms, _ := strings.Cut(field, "=")
		p95, err := strconv.ParseFloat(ms, 64)
		if err == nil && !(p95 >= 0 && p95 <= maxNumber) {
			err = fmt.Errorf("%v cannot have been measured", p95)
		}
		if _, there := known[name]; !there && err == nil {
			if len(known) == maxOperations {
				err = fmt.Errorf("there are more than %d operations: ds2 did not write them", maxOperations)
			} else {
				known[strings.Clone(name)] = strings.Clone(name)
			}
		}
		r.fail(column, err)
		all = append(all, measure.OperationP95{Name: known[name], P95: p95})
	}
	return all
}

func secondsText(t time.Duration) string { return strconv.FormatFloat(t.Seconds(), 'f', 3, 64) }

// readSamples reads SamplesFile.
func readSamples(path string, ended bool) (samples []measure.Sample, err error) {
	err = readHourly(path, ended, sampleLines(&samples))
	return samples, err
}

// sampleLines appends the samples of lines.
func sampleLines(samples *[]measure.Sample) func(columns []string) (func([]string) error, error) {
	var last time.Duration
	operations := map[string]string{}
	var own *[]string // names of the workload's own counts, which all hours share
	return func(columns []string) (func([]string) error, error) {
		r, err := newFieldReader(columns, samplesColumns)
		counts, names := slices.Clone(sampleCounts), []string{}
		for _, column := range columns {
			if slices.Contains(samplesColumns, column) {
				continue
			}
			counts = append(counts, ownCount(column, len(names)))
			if column == shortColumn.column {
				column = shortColumn.name
			}
			names = append(names, strings.Clone(column))
		}
		if own == nil || !slices.Equal(*own, names) {
			own = &names
		}
		err = errors.Join(err, measure.CheckOwn(names))
		return func(fields []string) error {
			r.fields = fields
			s := measure.Sample{End: r.seconds("t_s"), Phase: measure.Phase(r.text("phase")), Users: int(r.integer("users"))}
			s.Counts.Names = own
			for _, c := range counts {
				*c.of(&s) = r.integer(c.column)
			}
			s.Mean, s.P95, s.Max = r.float("mean_ms"), r.float("p95_ms"), r.float("max_ms")
			s.Operations = r.operations("operations_p95_ms", operations)
			if s.End <= last {
				r.fail("t_s", fmt.Errorf("%v s is not after the sample before, of %v s", s.End.Seconds(), last.Seconds()))
			}
			if !slices.Contains(measure.Phases, s.Phase) {
				r.fail("phase", fmt.Errorf("invalid phase of a run %q", s.Phase))
			}
			s.Length, last = s.End-last, s.End
			*samples = append(*samples, s)
			return r.err
		}, err
	}
}

// maxHistogramBytes is what the histograms of a record may come to, as text: a day of a run takes less than 20 MB.
const maxHistogramBytes = 1 << 30

// readIntervals reads HistogramsFile, whose lines of one interval stand together.
func readIntervals(path string, ended bool) (intervals []measure.Interval, err error) {
	err = readHourly(path, ended, intervalLines(&intervals))
	return intervals, err
}

// intervalLines appends the intervals of lines.
func intervalLines(all *[]measure.Interval) func(columns []string) (func([]string) error, error) {
	size := 0
	return func(columns []string) (func([]string) error, error) {
		r, err := newFieldReader(columns, histogramsColumns)
		_, exact := r.at["sum_ns"]
		return func(fields []string) error {
			r.fields = fields
			from, to, series := r.seconds("from_s"), r.seconds("to_s"), r.text("series")
			n := len(*all)
			if n == 0 || (*all)[n-1].From != from || (*all)[n-1].To != to {
				if n > 0 && from < (*all)[n-1].To || to <= from {
					r.fail("from_s", fmt.Errorf("the interval from %v s to %v s does not follow the one before", from.Seconds(), to.Seconds()))
				}
				*all = append(*all, measure.Interval{From: from, To: to, Histograms: map[string]string{}, Sums: map[string]time.Duration{}})
			}
			last := &(*all)[len(*all)-1]
			if _, again := last.Histograms[series]; again {
				r.fail("series", fmt.Errorf("%q stands twice in an interval", series))
			}
			last.Histograms[series] = strings.Clone(r.text("hdrhistogram"))
			if exact {
				last.Sums[series] = time.Duration(r.integer("sum_ns"))
			}
			if size += len(last.Histograms[series]); size > maxHistogramBytes {
				r.fail("hdrhistogram", fmt.Errorf("the histograms come to more than %d bytes: ds2 did not write them", maxHistogramBytes))
			}
			if r.err == nil {
				r.fail("hdrhistogram", measure.CheckHistogram(last.Histograms[series]))
			}
			return r.err
		}, err
	}
}

// index is where each column stands.
func index(columns []string) map[string]int {
	at := map[string]int{}
	for i, name := range columns {
		at[name] = i
	}
	return at
}

// fieldReader reads the fields of a line by the names of their columns and keeps the first error. Numbers are what can be
// measured: finite, not negative, and below 1e15.
type fieldReader struct {
	fields []string
	at     map[string]int
	err    error
}

// newFieldReader reads lines of columns, of which all that are wanted are there but laterColumns.
func newFieldReader(columns, wanted []string) (*fieldReader, error) {
	r := &fieldReader{at: index(columns)}
	for _, name := range wanted {
		if _, there := r.at[name]; !there && !slices.Contains(laterColumns, name) {
			return r, fmt.Errorf("the column %s is missing", name)
		}
	}
	return r, nil
}

// text is a field as it stands; empty where the file has no such column.
func (r *fieldReader) text(column string) string {
	i, ok := r.at[column]
	if !ok {
		return ""
	}
	return r.fields[i]
}

// maxNumber is beyond all that is measured: a century in microseconds, a petabyte.
const maxNumber = 1e15

func (r *fieldReader) integer(column string) int64 {
	if _, ok := r.at[column]; !ok {
		return 0
	}
	n, err := strconv.ParseInt(r.text(column), 10, 64)
	if err == nil && n < 0 {
		err = fmt.Errorf("%d is negative", n)
	}
	r.fail(column, err)
	return n
}

func (r *fieldReader) float(column string) float64 {
	f, err := strconv.ParseFloat(r.text(column), 64)
	if err == nil && !(f >= 0 && f <= maxNumber) {
		err = fmt.Errorf("%v cannot have been measured", f)
	}
	r.fail(column, err)
	return f
}

func (r *fieldReader) fail(column string, err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%s: %w", column, err)
	}
}

// maxSeconds is the longest time in a record: ten years.
const maxSeconds = 10 * 366 * 24 * 3600

func (r *fieldReader) seconds(column string) time.Duration {
	f := r.float(column)
	if f > maxSeconds {
		r.fail(column, fmt.Errorf("%v s is longer than any run", f))
		return 0
	}
	return time.Duration(f*1000+0.5) * time.Millisecond
}
