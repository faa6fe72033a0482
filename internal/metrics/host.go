package metrics

import (
	"math"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"ds2/internal/monitor"
)

// NewHostCollector makes a collector of the raw figures of the machine and the database, under ds2_host_. A figure that
// could not be read is left out.
func NewHostCollector(s *monitor.Sampler) prometheus.Collector { return hostCollector{s} }

type hostCollector struct{ sampler *monitor.Sampler }

func hostDesc(f monitor.Figure) *prometheus.Desc {
	var labels []string
	if f.Label != "" {
		labels = []string{f.Label}
	}
	return desc("host_"+f.Name, f.Help, labels...)
}

// Describe sends a description for each figure; those of several items are alike.
func (c hostCollector) Describe(ch chan<- *prometheus.Desc) {
	c.sampler.Latest(func(f monitor.Figure, _ float64) { ch <- hostDesc(f) })
}

// Collect sends the newest figures, at most a second old while the sampler runs.
func (c hostCollector) Collect(ch chan<- prometheus.Metric) {
	c.sampler.Latest(func(f monitor.Figure, v float64) {
		if math.IsNaN(v) {
			return
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(f.Name, "_total") {
			kind = prometheus.CounterValue
		}
		var labels []string
		if f.Label != "" {
			labels = []string{f.Item}
		}
		ch <- prometheus.MustNewConstMetric(hostDesc(f), kind, v, labels...)
	})
}
