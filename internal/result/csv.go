package result

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"ds2/internal/measure"
)

// The columns of SamplesFile and HistogramsFile. t_s is when the sample ended; its counts are those since
// the sample before, failed attempts of all classes under errors, and its times, in milliseconds, those of the orders
// completed since.
const (
	samplesHeader = "t_s,phase,users,orders,purchases,rollbacks,new_customers,errors,retries,reconnects,in_doubt_purchases,in_doubt_customers,given_up," +
		"mean_ms,p95_ms,max_ms,offered,dropped\n"
	histogramsHeader = "from_s,to_s,series,hdrhistogram\n"
)

func formatSample(s measure.Sample) string {
	c := s.Counts
	return fmt.Sprintf("%.3f,%s,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%.2f,%.2f,%.2f,%d,%d\n",
		s.End.Seconds(), s.Phase, s.Users, c.Orders, c.Purchases, c.Rollbacks, c.NewCustomers, s.Errors,
		c.Retries, c.Reconnects, c.InDoubtPurchases, c.InDoubtCustomers, c.GivenUp, s.Mean, s.P95, s.Max, c.Offered, c.Dropped)
}

// readSamples reads samples.csv. A last line cut short by a crash is left out.
func readSamples(path string) ([]measure.Sample, error) {
	var samples []measure.Sample
	var last time.Duration
	err := readLines(path, strings.Count(samplesHeader, ",")+1, func(fields []string) error {
		r := fieldReader{fields: fields}
		s := measure.Sample{End: r.seconds(), Phase: measure.Phase(r.next()), Users: int(r.integer())}
		s.Length, last = s.End-last, s.End
		c := &s.Counts
		for _, n := range []*int64{&c.Orders, &c.Purchases, &c.Rollbacks, &c.NewCustomers, &s.Errors, &c.Retries, &c.Reconnects,
			&c.InDoubtPurchases, &c.InDoubtCustomers, &c.GivenUp} {
			*n = r.integer()
		}
		s.Mean, s.P95, s.Max = r.float(), r.float(), r.float()
		c.Offered, c.Dropped = r.integer(), r.integer()
		samples = append(samples, s)
		return r.err
	})
	return samples, err
}

// readIntervals reads HistogramsFile, whose lines of one interval stand together.
func readIntervals(path string) ([]measure.Interval, error) {
	var intervals []measure.Interval
	err := readLines(path, strings.Count(histogramsHeader, ",")+1, func(fields []string) error {
		r := fieldReader{fields: fields}
		from, to := r.seconds(), r.seconds()
		if n := len(intervals); n == 0 || intervals[n-1].From != from {
			intervals = append(intervals, measure.Interval{From: from, To: to, Histograms: map[string]string{}})
		}
		series := r.next()
		intervals[len(intervals)-1].Histograms[series] = r.next()
		return r.err
	})
	return intervals, err
}

// readLines calls f with the fields of every whole line after the header of a file, which is compressed if its name says
// so.
func readLines(path string, columns int, f func(fields []string) error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	text := io.Reader(file)
	if strings.HasSuffix(path, ".gz") {
		zip, err := gzip.NewReader(file)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil // a crash came before the first interval
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		text = zip
	}
	reader := bufio.NewReader(text)
	for number := 1; ; number++ {
		line, err := reader.ReadString('\n')
		if err != nil {
			return nil // the end, or a line cut short
		}
		if number == 1 {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), ",")
		if len(fields) != columns {
			return fmt.Errorf("%s line %d: has %d fields, not %d", path, number, len(fields), columns)
		}
		if err := f(fields); err != nil {
			return fmt.Errorf("%s line %d: %w", path, number, err)
		}
	}
}

// fieldReader reads the fields of a line from left to right and keeps the first error.
type fieldReader struct {
	fields []string
	err    error
}

func (r *fieldReader) next() string {
	field := r.fields[0]
	r.fields = r.fields[1:]
	return field
}

func (r *fieldReader) integer() int64 {
	n, err := strconv.ParseInt(r.next(), 10, 64)
	r.err = errors.Join(r.err, err)
	return n
}

func (r *fieldReader) float() float64 {
	f, err := strconv.ParseFloat(r.next(), 64)
	r.err = errors.Join(r.err, err)
	return f
}

func (r *fieldReader) seconds() time.Duration {
	return time.Duration(r.float()*1000+0.5) * time.Millisecond
}
