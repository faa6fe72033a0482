// Package metrics shows a run to Prometheus. It reads what package measure has summed up and
// computes no figure; a scrape never touches a user. Counters are never set back, not even at the
// end of the warm-up.
package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// Run is a run as it is shown: what is said of it by labels, and where its figures are, each asked
// for at each scrape.
type Run struct {
	Version, Engine, Size, ID string
	Threads                   int // per target

	Configuration string // of an experiment; empty: none
	Block         int    // of it; 0: none

	Counters []workload.Counter // of the workload's own

	Meter *measure.Meter
	// one limit may be given twice; nil: there are none
	Verdicts func() result.Verdicts
	Sampler  *sampling.Sampler // of machine and database; nil: not observed
	// of the drives of the data, where there is a sampler; NaN where not counted
	IOPS func() float64
	// times of I/Os so far, by drive and kind; nil: not traced
	IO func() ([]measure.Distribution, error)

	created time.Time // when it began to be shown
}

// NewCollector makes a collector of a run's figures.
func NewCollector(run Run) prometheus.Collector {
	run.created = time.Now()
	return asked(run.collectFigures)
}

var (
	orders = newDesc(
		"orders_total",
		"Completed order cycles, those that rolled back for lack of stock included; "+
			"OPM is 60 * rate(ds2_orders_total[1m]).",
		"target",
	)
	reconnects = newDesc(
		"reconnects_total",
		"Connections opened again after one was lost.",
		"target",
	)
	givenUp = newDesc(
		"orders_given_up_total",
		"Orders that were begun and not completed.",
		"target",
	)
	offered = newDesc("orders_offered_total", "Orders that fell due in an open loop.", "target")
	dropped = newDesc(
		"orders_dropped_total",
		"Orders that fell due in an open loop and were not begun, "+
			"because too many were waiting.",
		"target",
	)
	retries = newDesc(
		"retries_total",
		"Operations tried again, by the reason why.",
		"target",
		"operation",
		"reason",
	)
	errorsTotal = newDesc(
		"errors_total",
		"Failed attempts of an operation.",
		"target",
		"operation",
		"class",
	)

	operationDuration = newDesc("operation_duration_seconds",
		"Response time of an operation, its retries included.", "target", "operation")
	orderDuration = newDesc(
		"order_duration_seconds",
		"Response time of a completed order, from its start or, "+
			"in an open loop, from when it was due.",
		"target",
	)

	opm = newDesc(
		"opm",
		"Completed orders a minute over the last 10s and 60s, since the end of the warm-up "+
			"(cumulative, as DS2 computes it), and over the steady part of the run.",
		"target",
		"window",
	)
	users    = newDesc("users", "Users by what they are doing.", "target", "state")
	runPhase = newDesc(
		"run_phase",
		"1 for the phase that the run is in, 0 for the others.",
		"phase",
	)
	runInfo = newDesc("run_info", "The run: always 1.",
		"version", "engine", "size", "threads", "run_id", "configuration", "block")
)

// collectFigures sends the figures as of the last sample, at most a second old.
func (r Run) collectFigures(s sink) {
	block := ""
	if r.Block > 0 {
		block = strconv.Itoa(r.Block)
	}
	s.sendGauge(
		runInfo,
		1,
		r.Version,
		r.Engine,
		r.Size,
		strconv.Itoa(r.Threads),
		r.ID,
		r.Configuration,
		block,
	)
	now := r.Meter.Phase()
	for _, p := range measure.Phases {
		s.sendGauge(runPhase, boolValue(p == now), string(p))
	}
	for _, t := range r.Meter.Totals() {
		s.sendGauge(opm, t.Rates.Last10s, t.Target, "10s")
		s.sendGauge(opm, t.Rates.Last60s, t.Target, "60s")
		s.sendGauge(opm, t.Rates.Cumulative, t.Target, "cumulative")
		if t.Rates.Steady > 0 {
			s.sendGauge(opm, t.Rates.Steady, t.Target, "steady")
		}
		for state, n := range t.Users {
			s.sendGauge(users, float64(n), t.Target, measure.UserStates[state])
		}
		r.collectCounts(s, t)
	}
	if r.Verdicts != nil {
		judged := map[string]bool{}
		for _, v := range r.Verdicts() {
			if !judged[v.Limit] {
				s.sendGauge(limitOK, boolValue(v.OK), v.Limit)
			}
			judged[v.Limit] = true
		}
	}
	if r.Sampler != nil {
		r.collectHost(s)
	}
	if r.IO != nil {
		r.collectIO(s)
	}
}

// collectCounts sends what one target's users did since the start.
func (r Run) collectCounts(s sink, t measure.Totals) {
	s.sendCounter(orders, t.Counts.Orders, t.Target)
	s.sendCounter(reconnects, t.Counts.Reconnects, t.Target)
	s.sendCounter(givenUp, t.Counts.GivenUp, t.Target)
	s.sendCounter(offered, t.Counts.Offered, t.Target)
	s.sendCounter(dropped, t.Counts.Dropped, t.Target)
	for f, n := range t.Retries {
		s.sendCounter(retries, n, t.Target, f.Operation, f.Class)
	}
	last := len(t.Durations) - 1
	durations := t.Durations[:last]
	whole := t.Durations[last]
	operations := []string{"connect"}
	for _, d := range durations {
		operations = append(operations, d.Name)
		s <- newHistogram(operationDuration, d, r.created, t.Target, d.Name)
	}
	s <- newHistogram(orderDuration, whole, r.created, t.Target)
	// all there can be: a rate needs the 0 before the first burst
	for _, operation := range operations {
		for _, class := range store.Classes {
			n := t.Errors[measure.Failure{Operation: operation, Class: string(class)}]
			s.sendCounter(errorsTotal, n, t.Target, operation, string(class))
		}
	}
	for _, own := range r.Counters {
		if own.Count != "" {
			s.sendCounter(newDesc(own.Name, own.Help, "target"), t.Counts.Of(own.Count), t.Target)
			continue
		}
		d := newDesc(own.Name, own.Help, "target", "operation")
		for operation, count := range own.By {
			s.sendCounter(d, t.Counts.Of(count), t.Target, operation)
		}
		if own.By == nil {
			for _, o := range durations {
				s.sendCounter(d, o.Count(), t.Target, o.Name)
			}
		}
	}
}
