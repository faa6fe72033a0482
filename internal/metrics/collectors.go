package metrics

import (
	"math"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"ds2/internal/sampling"
)

// asked is a collector of figures that it asks for at each scrape.
type asked func(sink)

// Describe says nothing: which figures there are shows as the run goes on.
func (asked) Describe(chan<- *prometheus.Desc) {}

func (a asked) Collect(ch chan<- prometheus.Metric) { a(ch) }

// sink takes the figures of a scrape.
type sink chan<- prometheus.Metric

func (s sink) sendGauge(d *prometheus.Desc, v float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (s sink) sendCounter(d *prometheus.Desc, n int64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("ds2_"+name, help, labels, nil)
}

var (
	limitOK = newDesc(
		"limit_ok",
		"1 where the limit held over the last interval of the run phase, 0 where it did not.",
		"limit",
	)
	iops = newDesc(
		"iops",
		"Reads and writes a second of the drives that hold the data, without those of the log, over the last 10s.",
	)
	loadRows  = newDesc("load_rows_total", "Rows of the dataset handed to the server.", "table")
	loadBytes = newDesc(
		"load_bytes_total",
		"Bytes of the dataset, as CSV, handed to the server.",
		"table",
	)
	ioDuration = newDesc("host_io_duration_seconds",
		"Times of the I/Os of the database's drives, by what they were for.", "device", "io")
)

// boolValue is 1 where something is so, and 0 where it is not.
func boolValue(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

// NewLoadCollector makes a collector of what tables gives at each scrape: what has been loaded of
// each table so far.
func NewLoadCollector(tables func(f func(table string, rows, bytes int64))) prometheus.Collector {
	return asked(func(s sink) {
		tables(func(table string, rows, bytes int64) {
			s.sendCounter(loadRows, rows, table)
			s.sendCounter(loadBytes, bytes, table)
		})
	})
}

// collectHost sends the raw figures of the machine and the database, under ds2_host_, at most a
// second old while the sampler runs. A figure that could not be read is left out.
func (r Run) collectHost(s sink) {
	if v := r.IOPS(); !math.IsNaN(v) {
		s.sendGauge(iops, v)
	}
	r.Sampler.Latest(func(f sampling.Figure, v float64) {
		if math.IsNaN(v) {
			return
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(f.Name, "_total") {
			kind = prometheus.CounterValue
		}
		var labels, items []string
		if f.Label != "" {
			labels = []string{f.Label}
			items = []string{f.Item}
		}
		s <- prometheus.MustNewConstMetric(newDesc("host_"+f.Name, f.Help, labels...), kind, v, items...)
	})
}

// collectIO sends a histogram for each kind of I/O of each drive that there was.
func (r Run) collectIO(s sink) {
	all, err := r.IO()
	if err != nil {
		s <- prometheus.NewInvalidMetric(ioDuration, err)
		return
	}
	for _, d := range all {
		device, kind, _ := strings.Cut(d.Name, " ")
		s <- newHistogram(ioDuration, d, r.created, device, kind)
	}
}
