package metrics

import (
	_ "embed" // metrics.tsv
	"math"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"ds2/internal/datatable"
	"ds2/internal/sampling"
)

// asked is a collector of figures that it asks for at each scrape.
type asked func(sink)

// Describe says nothing: which figures there are shows as the run goes on.
func (asked) Describe(chan<- *prometheus.Desc) {}

// Collect sends the figures as they are now. Prometheus calls it at each scrape.
func (a asked) Collect(ch chan<- prometheus.Metric) { a(ch) }

// sink takes the figures of a scrape.
type sink chan<- prometheus.Metric

// send sends a figure of a metric that metrics.tsv has.
func send[N int | int64 | float64](s sink, name string, v N, labels ...string) {
	sendAs(s, descriptions[name], name, v, labels...)
}

// sendAs sends a figure: that of a counter where the name, which the description has too, ends in
// _total, as Prometheus's own conventions have it.
func sendAs[N int | int64 | float64](
	s sink, d *prometheus.Desc, name string, v N, labels ...string,
) {
	kind := prometheus.GaugeValue
	if strings.HasSuffix(name, "_total") {
		kind = prometheus.CounterValue
	}
	s <- prometheus.MustNewConstMetric(d, kind, float64(v), labels...)
}

// newDesc describes a metric under the prefix that all of ds2 have.
func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("ds2_"+name, help, labels, nil)
}

//go:embed metrics.tsv
var metricsTable string

// descriptions are those of metrics.tsv by the metrics' names there, which have no ds2_.
var descriptions = readDescriptions()

func readDescriptions() map[string]*prometheus.Desc {
	all := map[string]*prometheus.Desc{}
	for _, row := range datatable.Rows(metricsTable, 3) {
		all[row[0]] = newDesc(row[0], row[2], strings.Fields(row[1])...)
	}
	return all
}

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
			send(s, "load_rows_total", rows, table)
			send(s, "load_bytes_total", bytes, table)
		})
	})
}

// collectHost sends the raw figures of the machine and the database, under ds2_host_, at most a
// second old while the sampler runs. A figure that could not be read is left out.
func (r Run) collectHost(s sink) {
	if v := r.IOPS(); !math.IsNaN(v) {
		send(s, "iops", v)
	}
	r.Sampler.Latest(func(f sampling.Figure, v float64) {
		if math.IsNaN(v) {
			return
		}
		var labels, items []string
		if f.Label != "" {
			labels = []string{f.Label}
			items = []string{f.Item}
		}
		sendAs(s, newDesc("host_"+f.Name, f.Help, labels...), f.Name, v, items...)
	})
}

// collectIO sends a histogram for each kind of I/O of each drive that there was.
func (r Run) collectIO(s sink) {
	const name = "host_io_duration_seconds"
	all, err := r.IO()
	if err != nil {
		s <- prometheus.NewInvalidMetric(descriptions[name], err)
		return
	}
	for _, d := range all {
		device, kind, _ := strings.Cut(d.Name, " ")
		s <- newHistogram(name, d, r.created, device, kind)
	}
}
