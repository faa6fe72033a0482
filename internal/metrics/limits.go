package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"ds2/internal/limit"
)

var limitOK = desc("limit_ok", "1 where the limit held over the last interval of the run phase, 0 where it did not.", "limit")

// NewLimitCollector makes a collector of the verdicts that it is given at each scrape.
func NewLimitCollector(verdicts func() []limit.Verdict) prometheus.Collector {
	return limitCollector(verdicts)
}

type limitCollector func() []limit.Verdict

// Describe sends the description.
func (c limitCollector) Describe(ch chan<- *prometheus.Desc) { ch <- limitOK }

// Collect sends a gauge for each limit; one that is given twice counts once.
func (c limitCollector) Collect(ch chan<- prometheus.Metric) {
	seen := map[string]bool{}
	for _, v := range c() {
		if seen[v.Limit] {
			continue
		}
		seen[v.Limit] = true
		value := 0.0
		if v.OK {
			value = 1
		}
		ch <- prometheus.MustNewConstMetric(limitOK, prometheus.GaugeValue, value, v.Limit)
	}
}
