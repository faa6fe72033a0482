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

// collectFigures sends the figures as of the last sample, at most a second old.
func (r Run) collectFigures(s sink) {
	block := ""
	if r.Block > 0 {
		block = strconv.Itoa(r.Block)
	}
	send(s, "run_info", 1, r.Version, r.Engine, r.Size, strconv.Itoa(r.Threads), r.ID,
		r.Configuration, block)
	now := r.Meter.Phase()
	for _, p := range measure.Phases {
		send(s, "run_phase", boolValue(p == now), string(p))
	}
	for _, t := range r.Meter.Totals() {
		send(s, "opm", t.Rates.Last10s, t.Target, "10s")
		send(s, "opm", t.Rates.Last60s, t.Target, "60s")
		send(s, "opm", t.Rates.Cumulative, t.Target, "cumulative")
		if t.Rates.Steady > 0 {
			send(s, "opm", t.Rates.Steady, t.Target, "steady")
		}
		for state, n := range t.Users {
			send(s, "users", n, t.Target, measure.UserStates[state])
		}
		r.collectCounts(s, t)
	}
	if r.Verdicts != nil {
		judged := map[string]bool{}
		for _, v := range r.Verdicts() {
			if !judged[v.Limit] {
				send(s, "limit_ok", boolValue(v.OK), v.Limit)
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
	send(s, "orders_total", t.Counts.Orders, t.Target)
	send(s, "reconnects_total", t.Counts.Reconnects, t.Target)
	send(s, "orders_given_up_total", t.Counts.GivenUp, t.Target)
	send(s, "orders_offered_total", t.Counts.Offered, t.Target)
	send(s, "orders_dropped_total", t.Counts.Dropped, t.Target)
	for f, n := range t.Retries {
		send(s, "retries_total", n, t.Target, f.Operation, f.Class)
	}
	last := len(t.Durations) - 1
	durations := t.Durations[:last]
	whole := t.Durations[last]
	operations := []string{"connect"}
	for _, d := range durations {
		operations = append(operations, d.Name)
		s <- newHistogram("operation_duration_seconds", d, r.created, t.Target, d.Name)
	}
	s <- newHistogram("order_duration_seconds", whole, r.created, t.Target)
	// all there can be: a rate needs the 0 before the first burst
	for _, operation := range operations {
		for _, class := range store.Classes {
			n := t.Errors[measure.Failure{Operation: operation, Class: string(class)}]
			send(s, "errors_total", n, t.Target, operation, string(class))
		}
	}
	for _, own := range r.Counters {
		if own.Count != "" {
			d := newDesc(own.Name, own.Help, "target")
			sendAs(s, d, own.Name, t.Counts.Of(own.Count), t.Target)
			continue
		}
		d := newDesc(own.Name, own.Help, "target", "operation")
		for operation, count := range own.By {
			sendAs(s, d, own.Name, t.Counts.Of(count), t.Target, operation)
		}
		if own.By == nil {
			for _, o := range durations {
				sendAs(s, d, own.Name, o.Count(), t.Target, o.Name)
			}
		}
	}
}
