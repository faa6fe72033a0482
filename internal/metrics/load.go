package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	loadRows  = desc("load_rows_total", "Rows of the dataset handed to the server.", "table")
	loadBytes = desc("load_bytes_total", "Bytes of the dataset, as CSV, handed to the server.", "table")
)

// NewLoadCollector makes a collector of what tables gives at each scrape: what has been loaded of each table so far.
func NewLoadCollector(tables func(f func(table string, rows, bytes int64))) prometheus.Collector {
	return loadCollector(tables)
}

type loadCollector func(f func(table string, rows, bytes int64))

// Describe sends the descriptions.
func (c loadCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- loadRows
	ch <- loadBytes
}

// Collect sends two counters for each table.
func (c loadCollector) Collect(ch chan<- prometheus.Metric) {
	c(func(table string, rows, bytes int64) {
		ch <- prometheus.MustNewConstMetric(loadRows, prometheus.CounterValue, float64(rows), table)
		ch <- prometheus.MustNewConstMetric(loadBytes, prometheus.CounterValue, float64(bytes), table)
	})
}
