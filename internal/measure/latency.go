package measure

import (
	"fmt"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Response times are kept in microseconds with two significant digits: the value a percentile names is at most 1 %
// above the true one, and a histogram of an hour is a few hundred bytes in a record. All histograms have these bounds,
// so they merge without loss.
const (
	lowestMicros      = 1
	highestMicros     = int64(time.Hour / time.Microsecond)
	significantDigits = 2
)

func newHistogram() *hdr.Histogram { return hdr.New(lowestMicros, highestMicros, significantDigits) }

// observe adds one response time; what is longer than an hour counts as an hour.
func observe(h *hdr.Histogram, d time.Duration) {
	// The value is within the bounds, so there is no error to come.
	_ = h.RecordValue(min(max(d.Microseconds(), lowestMicros), highestMicros))
}

// Distribution is the response times of one operation, or of whole orders.
type Distribution struct {
	Name      string
	Sum       time.Duration
	histogram *hdr.Histogram
}

// Count is how many there are.
func (d Distribution) Count() int64 { return d.histogram.TotalCount() }

// Latency sums the distribution up.
func (d Distribution) Latency() Latency { return summarize(d.histogram) }

// Quantile is the response time that a share q of all does not exceed; the longest for 1.
func (d Distribution) Quantile(q float64) time.Duration {
	return time.Duration(d.histogram.ValueAtQuantile(100*q)) * time.Microsecond
}

// Mean is the average response time.
func (d Distribution) Mean() time.Duration {
	return time.Duration(d.histogram.Mean() * float64(time.Microsecond))
}

// Merge is all response times of some distributions in one.
func Merge(name string, some ...Distribution) Distribution {
	all := Distribution{Name: name, histogram: newHistogram()}
	for _, d := range some {
		all.Sum += d.Sum
		all.histogram.Merge(d.histogram) // of the same bounds, so nothing is dropped
	}
	return all
}

// Each calls f with how many there are up to each of ascending upper bounds, less those up to the bound before.
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
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

func summarize(h *hdr.Histogram) Latency {
	ms := func(micros int64) float64 { return float64(micros) / 1000 }
	return Latency{
		Count: h.TotalCount(),
		Mean:  h.Mean() / 1000,
		P50:   ms(h.ValueAtQuantile(50)),
		P95:   ms(h.ValueAtQuantile(95)),
		P99:   ms(h.ValueAtQuantile(99)),
		Max:   ms(h.Max()),
	}
}

// Interval holds the histograms of all series between two moments, counted from the first orders on.
type Interval struct {
	From, To time.Duration
	// Histograms by series name in HdrHistogram's compressed V2 encoding (base64); a series without values has none.
	Histograms map[string]string
}

func encode(h *hdr.Histogram) string {
	// Encoding fails only for versions the library does not know.
	b, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func decode(s string) (*hdr.Histogram, error) {
	h, err := hdr.Decode([]byte(s))
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	return h, nil
}

// mergeInto adds the interval's histograms to sum, by series name.
func (iv Interval) mergeInto(sum map[string]*hdr.Histogram) error {
	for name, text := range iv.Histograms {
		h, err := decode(text)
		if err != nil {
			return err
		}
		if sum[name] == nil {
			sum[name] = newHistogram()
		}
		if dropped := sum[name].Merge(h); dropped > 0 {
			return fmt.Errorf("merge histograms of %s: %d values are out of bounds", name, dropped)
		}
	}
	return nil
}

// Latencies sums up the interval's response times by series name.
func (iv Interval) Latencies() (map[string]Latency, error) {
	byName := make(map[string]Latency, len(iv.Histograms))
	for name, text := range iv.Histograms {
		h, err := decode(text)
		if err != nil {
			return nil, err
		}
		byName[name] = summarize(h)
	}
	return byName, nil
}
