package metrics

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"ds2/internal/measure"
)

// classicBounds are the upper bounds, in seconds, of the buckets that a Prometheus without native
// histograms sees; among them are the limits that storage is judged by, 20 ms and 50 ms.
var classicBounds = []float64{
	.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60,
}

// nativeSchema is the resolution of the native histograms: a bucket ends 2^(1/8), 9 %, above the
// one before.
const nativeSchema = 3

// histogram is a native histogram with the buckets of a classic one besides.
type histogram struct {
	prometheus.Metric
	classic []*dto.Bucket
}

// newHistogram shows a distribution. measure keeps response times to 1 %, so a bucket's bound is
// true to that.
func newHistogram(
	name string, d measure.Distribution, created time.Time, labels ...string,
) prometheus.Metric {
	cumulative := make([]uint64, len(classicBounds))
	native := map[int]int64{}
	d.Each(func(upper time.Duration, count int64) {
		seconds := upper.Seconds()
		// The bucket i of schema 3 ends at 2^(i/8) seconds.
		native[int(math.Ceil(math.Log2(seconds)*(1<<nativeSchema)))] += count
		for i := len(classicBounds) - 1; i >= 0 && seconds <= classicBounds[i]; i-- {
			cumulative[i] += uint64(count)
		}
	})
	m := prometheus.MustNewConstNativeHistogram(descriptions[name], uint64(d.Count()),
		d.Sum.Seconds(), native, nil, 0, nativeSchema, 0, created, labels...)
	h := &histogram{Metric: m}
	for i, bound := range classicBounds {
		bucket := &dto.Bucket{UpperBound: &bound, CumulativeCount: &cumulative[i]}
		h.classic = append(h.classic, bucket)
	}
	return h
}

// Write adds the classic buckets, which the client library makes beside native ones for histograms
// that it counts itself only.
func (h *histogram) Write(m *dto.Metric) error {
	if err := h.Metric.Write(m); err != nil {
		return err
	}
	m.Histogram.Bucket = h.classic
	return nil
}
