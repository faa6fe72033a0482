package measure

import (
	"slices"
	"time"
)

// connectionFailures is the class of failed attempts that found no server.
const connectionFailures = "connection"

// Outage is a time in which the server did not answer.
type Outage struct {
	Span
	GivenUp, Retries int64 // in it
}

// Outages are the stretches of samples in which nothing was completed, until the orders that had
// found no server ended: what an order went through is counted at its end.
func (s Series) Outages() (all []Outage) {
	var o Outage
	down := false
	lost := func(f FailureCount) bool { return f.Class == connectionFailures }
	for i, sample := range s.Samples {
		// Users were at work, and none completed an order.
		idle := sample.Counts.Orders == 0 && sample.Users > 0
		if idle && o.To == 0 {
			o.From = sample.begin()
		}
		if idle {
			o.To = sample.End
		}
		if o.To > 0 {
			o.GivenUp += sample.Counts.GivenUp
			o.Retries += sample.Counts.Retries
			down = down || slices.ContainsFunc(sample.Failures, lost)
		}
		if down && (!idle || i == len(s.Samples)-1) {
			all = append(all, o)
		}
		if !idle {
			o = Outage{}
			down = false
		}
	}
	return all
}

// stood is for how long no sample closes until ds2 itself must have stood still.
const stood = 3 * time.Second

// Gaps are times in which no sample closed, though one was due each second.
func (s Series) Gaps() (all []Span) {
	from := time.Duration(0)
	for _, sample := range s.Samples {
		if sample.End-from > stood {
			all = append(all, Span{From: from, To: sample.End})
		}
		from = sample.End
	}
	return all
}
