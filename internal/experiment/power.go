package experiment

import (
	"math"
	"time"

	"ds2/internal/monitor"
	"ds2/internal/result"
)

// powerOf computes the means that the storage report gives (WORKLOAD.md section 6): idle over the samples before the first
// orders, active over the first window. Without a meter it takes RAPL's figures; without either there is none.
func powerOf(r *result.Record) *result.Power {
	p := &result.Power{Source: monitor.PowerColumn}
	if r.Host.Values(p.Source) == nil {
		p.Source = monitor.RAPLColumn
	}
	if r.Host.Values(p.Source) == nil {
		return nil
	}
	p.Idle = known(r.Host.Mean(p.Source, time.Time{}, r.Start))
	if len(r.Windows) > 0 {
		from, to := span(r.Summary)
		p.Active = known(r.Host.Mean(p.Source, from, to))
	}
	if p.Active != nil && *p.Active > 0 && r.OPM != nil {
		p.OPMPerWatt = new(*r.OPM / *p.Active)
	}
	return p
}

// span is the first window of a run.
func span(s result.Summary) (from, to time.Time) {
	at := func(seconds float64) time.Time { return s.Start.Add(time.Duration(seconds * float64(time.Second))) }
	return at(s.Windows[0].From), at(s.Windows[0].To)
}

func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}
