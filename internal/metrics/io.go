package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ds2/internal/measure"
)

var ioDuration = desc("host_io_duration_seconds", "Times of the I/Os of the database's drives, by what they were for.", "device", "io")

// NewIOCollector makes a collector of what totals gives at each scrape: the times of the I/Os traced so far, a
// histogram for each kind of I/O of each drive that there was.
func NewIOCollector(totals func() ([]measure.Distribution, error)) prometheus.Collector {
	created := time.Now()
	return small{[]*prometheus.Desc{ioDuration}, func(ch chan<- prometheus.Metric) {
		all, err := totals()
		if err != nil {
			ch <- prometheus.NewInvalidMetric(ioDuration, err)
			return
		}
		for _, d := range all {
			device, kind, _ := strings.Cut(d.Name, " ")
			ch <- newHistogram(ioDuration, d, created, device, kind)
		}
	}}
}
