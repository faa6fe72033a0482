// Package metrics shows a run to Prometheus. It reads what package measure has summed up and computes no figure; a
// scrape never touches a user. Counters are never set back, not even at the end of the warm-up.
package metrics

import (
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ds2/internal/measure"
	"ds2/internal/workload"
)

// Run is what is said of a run by labels.
type Run struct {
	Version, Engine, Size, ID string
	Threads                   int // per target

	Configuration string // of an experiment; empty: none
	Block         int    // of it; 0: none

	Counters []workload.Counter // of the workload's own
}

func counterDesc(c workload.Counter) *prometheus.Desc {
	labels := []string{"target"}
	if c.Count == "" {
		labels = append(labels, "operation")
	}
	return desc(c.Name, c.Help, labels...)
}

// NewCollector makes a collector of a run's figures.
func NewCollector(run Run, meter *measure.Meter) prometheus.Collector {
	c := collector{run: run, meter: meter, created: time.Now()}
	for _, own := range run.Counters {
		c.own = append(c.own, counterDesc(own))
	}
	return small{slices.Concat([]*prometheus.Desc{orders, reconnects, givenUp, offered, dropped, retries, errorsTotal,
		operationDuration, orderDuration, opm, users, runPhase, runInfo}, c.own), c.collect}
}

type collector struct {
	run     Run
	meter   *measure.Meter
	created time.Time
	own     []*prometheus.Desc // of run.Counters
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("ds2_"+name, help, labels, nil)
}

var (
	orders = desc("orders_total", "Completed order cycles, those that rolled back for lack of stock included; OPM is 60 * rate(ds2_orders_total[1m]).", "target")

	reconnects  = desc("reconnects_total", "Connections opened again after one was lost.", "target")
	givenUp     = desc("orders_given_up_total", "Orders that were begun and not completed.", "target")
	offered     = desc("orders_offered_total", "Orders that fell due in an open loop.", "target")
	dropped     = desc("orders_dropped_total", "Orders that fell due in an open loop and were not begun, because too many were waiting.", "target")
	retries     = desc("retries_total", "Operations tried again, by the reason why.", "target", "operation", "reason")
	errorsTotal = desc("errors_total", "Failed attempts of an operation.", "target", "operation", "class")

	operationDuration = desc("operation_duration_seconds", "Response time of an operation, its retries included.", "target", "operation")
	orderDuration     = desc("order_duration_seconds", "Response time of a completed order, from its start or, in an open loop, from when it was due.", "target")

	opm = desc("opm", "Completed orders a minute over the last 10s and 60s, since the end of the warm-up (cumulative, as DS2 computes it), "+
		"and over the steady part of the run.", "target", "window")
	users    = desc("users", "Users by what they are doing.", "target", "state")
	runPhase = desc("run_phase", "1 for the phase that the run is in, 0 for the others.", "phase")
	runInfo  = desc("run_info", "The run: always 1.", "version", "engine", "size", "threads", "run_id", "configuration", "block")
)

// collect sends the figures as of the last sample, at most a second old.
func (c collector) collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	block := ""
	if c.run.Block > 0 {
		block = strconv.Itoa(c.run.Block)
	}
	gauge(runInfo, 1, c.run.Version, c.run.Engine, c.run.Size, strconv.Itoa(c.run.Threads), c.run.ID, c.run.Configuration, block)
	now := c.meter.Phase()
	for _, p := range measure.Phases {
		gauge(runPhase, one(p == now), string(p))
	}
	for _, t := range c.meter.Totals() {
		gauge(opm, t.Rates.Last10s, t.Target, "10s")
		gauge(opm, t.Rates.Last60s, t.Target, "60s")
		gauge(opm, t.Rates.Cumulative, t.Target, "cumulative")
		if t.Rates.Steady > 0 {
			gauge(opm, t.Rates.Steady, t.Target, "steady")
		}
		for state, n := range t.Users {
			gauge(users, float64(n), t.Target, measure.UserState(state).String())
		}
		c.collectCounts(ch, t)
	}
}

// collectCounts sends what one target's users did since the start.
func (c collector) collectCounts(ch chan<- prometheus.Metric, t measure.Totals) {
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), append([]string{t.Target}, labels...)...)
	}
	counter(orders, t.Counts.Orders)
	counter(reconnects, t.Counts.Reconnects)
	counter(givenUp, t.Counts.GivenUp)
	counter(offered, t.Counts.Offered)
	counter(dropped, t.Counts.Dropped)
	for f, n := range t.Retries {
		counter(retries, n, f.Operation, f.Class)
	}
	for f, n := range t.Errors {
		counter(errorsTotal, n, f.Operation, f.Class)
	}
	for _, d := range t.Durations {
		if d.Name == measure.WholeOrder {
			ch <- newHistogram(orderDuration, d, c.created, t.Target)
			continue
		}
		ch <- newHistogram(operationDuration, d, c.created, t.Target, d.Name)
	}
	for i, own := range c.run.Counters {
		switch {
		case own.Count != "":
			counter(c.own[i], t.Counts.Of(own.Count))
		case own.By != nil:
			for operation, count := range own.By {
				counter(c.own[i], t.Counts.Of(count), operation)
			}
		default:
			for _, d := range t.Durations[:len(t.Durations)-1] {
				if own.Of == nil || slices.Contains(own.Of, d.Name) {
					counter(c.own[i], d.Count(), d.Name)
				}
			}
		}
	}
}
