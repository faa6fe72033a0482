package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ds2/internal/measure"
)

// NewIOCollector makes a collector of what totals gives at each scrape: the times of the I/Os traced so far.
func NewIOCollector(totals func() ([]measure.Distribution, error)) prometheus.Collector {
	return ioCollector{totals, time.Now()}
}

type ioCollector struct {
	totals  func() ([]measure.Distribution, error)
	created time.Time
}

var ioDuration = desc("host_io_duration_seconds", "Times of the I/Os of the database's drives, by what they were for.", "device", "io")

// Describe sends the description.
func (c ioCollector) Describe(ch chan<- *prometheus.Desc) { ch <- ioDuration }

// Collect sends a histogram for each kind of I/O of each drive that there was.
func (c ioCollector) Collect(ch chan<- prometheus.Metric) {
	all, err := c.totals()
	if err != nil {
		ch <- prometheus.NewInvalidMetric(ioDuration, err)
		return
	}
	for _, d := range all {
		device, kind, _ := strings.Cut(d.Name, " ")
		ch <- newHistogram(ioDuration, d, c.created, device, kind)
	}
}
