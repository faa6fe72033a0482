package measure

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Response times are kept in microseconds with two significant digits: the value a percentile names
// is at most 1 % above the true one, and a histogram of an hour is a few hundred bytes in a record.
// All histograms have these bounds, so they merge without loss.
const (
	lowestMicros      = 1
	highestMicros     = int64(time.Hour / time.Microsecond)
	significantDigits = 2
)

// newHistogram makes an empty one with the bounds that all have.
func newHistogram() *hdr.Histogram {
	return hdr.New(lowestMicros, highestMicros, significantDigits)
}

// Distribution is the response times of one operation, or of whole orders: their exact sum, and how
// they are spread to 1 %.
type Distribution struct {
	Name      string
	Sum       time.Duration // of those that came to an end
	histogram *hdr.Histogram

	// dropped are how long orders that an open loop dropped would have waited at least:
	// observations that are censored on the right, since only a lower bound is known. Without them
	// a store that stalls would have its worst waits left out (Gil Tene's coordinated omission).
	// nil: there are none.
	dropped *hdr.Histogram
}

func newDistribution(name string) Distribution {
	return Distribution{Name: name, histogram: newHistogram()}
}

// add adds one response time; in the histogram, what is longer than an hour counts as an hour.
func (d *Distribution) add(t time.Duration) {
	d.Sum += t
	// The value is within the bounds, so there is no error to come.
	_ = d.histogram.RecordValue(min(max(t.Microseconds(), lowestMicros), highestMicros))
}

// reset empties the distribution and keeps its memory, since one is filled anew each second.
func (d *Distribution) reset() {
	d.Sum = 0
	d.histogram.Reset()
}

// merge adds o. All histograms have the same bounds, so nothing is left out.
func (d *Distribution) merge(o Distribution) {
	d.histogram.Merge(o.histogram)
	d.Sum += o.Sum
	if o.dropped != nil {
		if d.dropped == nil {
			d.dropped = newHistogram()
		}
		d.dropped.Merge(o.dropped)
	}
}

// withDropped are those that came to an end and those that were dropped, which count as no longer
// than is known.
func (d Distribution) withDropped() *hdr.Histogram {
	if d.dropped == nil {
		return d.histogram
	}
	all := newHistogram()
	all.Merge(d.histogram)
	all.Merge(d.dropped)
	return all
}

// certainUpTo is the share, in percent, up to which quantiles are what they are; above it they are
// lower bounds.
func (d Distribution) certainUpTo() float64 {
	if d.dropped == nil || d.dropped.TotalCount() == 0 {
		return 100
	}
	// What took less than the shortest wait that was cut off is known as it is.
	least := d.dropped.Min()
	below := int64(0)
	for _, bar := range d.histogram.Distribution() {
		if bar.To < least {
			below += bar.Count
		}
	}
	return 100 * float64(below) / float64(d.histogram.TotalCount()+d.dropped.TotalCount())
}

// AtLeast says that the response time that a share q does not exceed is only known to be at least
// Quantile's. Of 1 it says that orders were dropped, so that Mean, which leaves them out, is a
// lower bound too.
func (d Distribution) AtLeast(q float64) bool { return 100*q > d.certainUpTo() }

// Count is how many came to an end.
func (d Distribution) Count() int64 { return d.histogram.TotalCount() }

// Latency sums the distribution up. The mean is that of the exact sum.
func (d Distribution) Latency() Latency {
	all := d.withDropped()
	// in milliseconds, of histograms in microseconds
	at := func(percentile float64) float64 {
		return float64(all.ValueAtQuantile(percentile)) / 1000
	}
	l := Latency{
		Count: d.Count(),
		P25:   at(25),
		P50:   at(50),
		P75:   at(75),
		P95:   at(95),
		P99:   at(99),
		P999:  at(99.9),
		P9999: at(99.99),
		Max:   float64(all.Max()) / 1000,
	}
	if d.AtLeast(1) {
		l.Dropped = d.dropped.TotalCount()
		l.AtLeastFrom = new(d.certainUpTo())
	}
	if l.Count > 0 {
		l.Mean = float64(d.Sum) / float64(time.Millisecond) / float64(l.Count)
	}
	return l
}

// Quantile is the response time that a share q of all does not exceed; the longest for 1.
func (d Distribution) Quantile(q float64) time.Duration {
	return time.Duration(d.withDropped().ValueAtQuantile(100*q)) * time.Microsecond
}

// Mean is the average response time; 0 where there are none.
func (d Distribution) Mean() time.Duration { return MeanOf(d.Sum, d.Count()) }

// Merge is all response times of some distributions in one.
func Merge(name string, some ...Distribution) Distribution {
	all := newDistribution(name)
	for _, d := range some {
		all.merge(d)
	}
	return all
}

// Each calls f with how many there are up to each of ascending upper bounds, less those up to the
// bound before.
func (d Distribution) Each(f func(upper time.Duration, count int64)) {
	for _, bar := range d.histogram.Distribution() {
		if bar.Count > 0 {
			f(time.Duration(bar.To)*time.Microsecond, bar.Count)
		}
	}
}

// Latency sums up the response times of one series. Times are in milliseconds.
type Latency struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean_ms"`
	P25   float64 `json:"p25_ms"`
	P50   float64 `json:"p50_ms"`
	P75   float64 `json:"p75_ms"`
	P95   float64 `json:"p95_ms"`
	P99   float64 `json:"p99_ms"`
	P999  float64 `json:"p999_ms"`
	P9999 float64 `json:"p9999_ms"`
	Max   float64 `json:"max_ms"`

	// Dropped are orders that an open loop dropped. They stand in the percentiles and the maximum,
	// not in Count and Mean, with the time that they would have waited at least: from this
	// percentile on, figures are lower bounds.
	Dropped     int64    `json:"dropped,omitempty"`
	AtLeastFrom *float64 `json:"at_least_from_pct,omitempty"`
}

// Interval holds the histograms of all series between two moments, counted from the first orders
// on.
type Interval struct {
	From, To time.Duration
	// Histograms by series name in HdrHistogram's compressed V2 encoding (base64); a series without
	// values has none.
	Histograms map[string]string
	// Sums of the response times by series name, exact.
	Sums map[string]time.Duration
	// Slowest are the slowest orders that ended in it, the slowest first: MostSlow at most. Those
	// of a record stand in Series.Slow.
	Slowest []SlowOrder
}

// NewInterval is an interval without any.
func NewInterval(from, to time.Duration) Interval {
	return Interval{
		From:       from,
		To:         to,
		Histograms: map[string]string{},
		Sums:       map[string]time.Duration{},
	}
}

// encode writes a histogram as HdrHistogram's own tools read it.
func encode(h *hdr.Histogram) string {
	b, _ := h.Encode(hdr.V2CompressedEncodingCookieBase) // fails for other versions only
	return string(b)
}

// decode reads a histogram of a record, which may be damaged or made by hand. Those of other bounds
// are refused, as merging them would lose values without a word.
func decode(s string) (*hdr.Histogram, error) {
	h, err := hdr.Decode([]byte(s))
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	// more orders than anyone makes, and few enough for the sums of many intervals
	const most = 1 << 50
	if h.LowestTrackableValue() != lowestMicros || h.HighestTrackableValue() != highestMicros ||
		h.SignificantFigures() != significantDigits || h.TotalCount() > most {
		return nil, errors.New("decode histogram: it is not one of ds2's")
	}
	return h, nil
}

// CheckHistogram says what is wrong with the text of a histogram of an Interval.
func CheckHistogram(text string) error {
	_, err := decode(text)
	return err
}

// ioPrefix begins the names of series that are no response times of operations but times of I/Os.
const ioPrefix = "io "

// Counted is a distribution of times that something else counted: buckets give how many took each
// number of microseconds.
func Counted(name string, sum time.Duration, buckets iter.Seq2[int64, uint64]) Distribution {
	d := newDistribution(name)
	d.Sum = sum
	for micros, count := range buckets {
		_ = d.histogram.RecordValues(min(max(micros, lowestMicros), highestMicros),
			int64(count)) // within the bounds
	}
	return d
}

// AddIO adds the times of I/Os.
func (iv *Interval) AddIO(d Distribution) {
	iv.Histograms[ioPrefix+d.Name] = encode(d.histogram)
	iv.Sums[ioPrefix+d.Name] = d.Sum
}

// Distributions are the merged histograms of a part of a run, by series. Those without any are
// missing.
type Distributions struct {
	Operations map[string]Distribution // response times
	IO         map[string]Distribution // times of I/Os, by drive and what they were for
	Span                               // that the histograms are of
}

// add merges the histograms of an interval. Those of dropped orders stand with the whole orders.
func (all Distributions) add(iv Interval) error {
	for series, text := range iv.Histograms {
		h, err := decode(text)
		if err != nil {
			return fmt.Errorf("series %s: %w", series, err)
		}
		part := Distribution{Sum: iv.Sums[series], histogram: h}
		byName := all.Operations
		name, isIO := strings.CutPrefix(series, ioPrefix)
		switch {
		case isIO:
			byName = all.IO
		case series == droppedOrder:
			name = WholeOrder
			part = Distribution{histogram: newHistogram(), dropped: h}
		}
		sum, some := byName[name]
		if !some {
			sum = newDistribution(name)
		}
		sum.merge(part)
		byName[name] = sum
	}
	return nil
}
