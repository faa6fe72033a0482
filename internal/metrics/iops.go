package metrics

import "github.com/prometheus/client_golang/prometheus"

// NewIOPSCollector makes a collector of the reads and writes a second of the drives of the data; now is false where nobody counted
// them lately.
func NewIOPSCollector(now func() (iops float64, measured bool)) prometheus.Collector {
	return iopsCollector{now}
}

type iopsCollector struct {
	now func() (float64, bool)
}

var iopsDesc = desc("iops", "Reads and writes a second of the drives that hold the data, without those of the log, over the last 10s.")

// Describe sends the description.
func (c iopsCollector) Describe(ch chan<- *prometheus.Desc) { ch <- iopsDesc }

// Collect sends the figure, where there is one.
func (c iopsCollector) Collect(ch chan<- prometheus.Metric) {
	if iops, measured := c.now(); measured {
		ch <- prometheus.MustNewConstMetric(iopsDesc, prometheus.GaugeValue, iops)
	}
}
