package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"ds2/internal/limit"
)

// small is a collector of figures that it asks for at each scrape.
type small struct {
	descriptions []*prometheus.Desc
	collect      func(chan<- prometheus.Metric)
}

// Describe sends the descriptions.
func (s small) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range s.descriptions {
		ch <- d
	}
}

// Collect sends the figures.
func (s small) Collect(ch chan<- prometheus.Metric) { s.collect(ch) }

var (
	limitOK   = desc("limit_ok", "1 where the limit held over the last interval of the run phase, 0 where it did not.", "limit")
	iops      = desc("iops", "Reads and writes a second of the drives that hold the data, without those of the log, over the last 10s.")
	loadRows  = desc("load_rows_total", "Rows of the dataset handed to the server.", "table")
	loadBytes = desc("load_bytes_total", "Bytes of the dataset, as CSV, handed to the server.", "table")
)

// NewLimitCollector makes a collector of the verdicts that it is given at each scrape. A limit that is given twice
// counts once.
func NewLimitCollector(verdicts func() []limit.Verdict) prometheus.Collector {
	return small{[]*prometheus.Desc{limitOK}, func(ch chan<- prometheus.Metric) {
		seen := map[string]bool{}
		for _, v := range verdicts() {
			if !seen[v.Limit] {
				ch <- prometheus.MustNewConstMetric(limitOK, prometheus.GaugeValue, one(v.OK), v.Limit)
			}
			seen[v.Limit] = true
		}
	}}
}

// one is 1 where something is so, and 0 where it is not.
func one(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

// NewIOPSCollector makes a collector of the reads and writes a second of the drives of the data; now is false where
// nobody counted them lately.
func NewIOPSCollector(now func() (iops float64, measured bool)) prometheus.Collector {
	return small{[]*prometheus.Desc{iops}, func(ch chan<- prometheus.Metric) {
		if v, measured := now(); measured {
			ch <- prometheus.MustNewConstMetric(iops, prometheus.GaugeValue, v)
		}
	}}
}

// NewLoadCollector makes a collector of what tables gives at each scrape: what has been loaded of each table so far.
func NewLoadCollector(tables func(f func(table string, rows, bytes int64))) prometheus.Collector {
	return small{[]*prometheus.Desc{loadRows, loadBytes}, func(ch chan<- prometheus.Metric) {
		tables(func(table string, rows, bytes int64) {
			ch <- prometheus.MustNewConstMetric(loadRows, prometheus.CounterValue, float64(rows), table)
			ch <- prometheus.MustNewConstMetric(loadBytes, prometheus.CounterValue, float64(bytes), table)
		})
	}}
}
