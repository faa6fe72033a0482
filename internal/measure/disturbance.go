package measure

import (
	"fmt"
	"math"
	"time"
)

// How the end of a disturbance is told: OPM is back when its mean over the backOver seconds that
// follow is within backWithin of the undisturbed rate, and the first of these seconds reaches half
// of that.
const (
	backOver    = 10 * time.Second
	backWithin  = .05
	leastBefore = 10 * time.Second // of the run phase that an undisturbed rate takes at least
)

// Disturbance is what an event did to a run, against the rate of the run phase before it. Times are
// in seconds.
type Disturbance struct {
	From        float64 `json:"from_s"`          // when the event began, since the first orders
	Undisturbed float64 `json:"undisturbed_opm"` // over the run phase before the first event
	// until OPM was back within 5 %; absent: not before the run's end
	Back *float64 `json:"back_after_s"`

	// Lost are the orders that were missing until OPM was back, over 10 s at least. LostCI95 is
	// half the width of its 95 % interval: by how much as long a time differs from the undisturbed
	// rate anyway. NoCI95 says why there is none.
	Lost     float64  `json:"lost"`
	LostCI95 *float64 `json:"lost_ci95"`
	NoCI95   string   `json:"no_lost_ci95,omitempty"`

	// Until the 10 s are over by which it is told that OPM is back.
	Errors  []FailureCount `json:"errors,omitempty"`
	Longest float64        `json:"longest_ms"` // of the orders that were completed
}

// Disturbance is what an event at a time did, where the run was not disturbed before another time,
// which is that of the first event.
func (s Series) Disturbance(at, before time.Duration) (d Disturbance, err error) {
	run := s.Phase(PhaseRun)
	base := s.within(Span{run.From, min(before, run.To)})
	if before < run.From+leastBefore {
		return d, fmt.Errorf(
			"the run phase begins at %.0f s, and an undisturbed rate takes %.0f s of it "+
				"before the first event", run.From.Seconds(), leastBefore.Seconds())
	}
	after := s.within(Span{at, run.To})
	if len(base) == 0 || len(after) == 0 || at > run.To-backOver+slack {
		return d, fmt.Errorf("what comes of it takes %.0f s of the run phase, which ends at %.0f s",
			backOver.Seconds(), run.To.Seconds())
	}
	d = Disturbance{From: at.Seconds(), Undisturbed: OrdersPerMinute(ordersOf(base))}
	rate := d.Undisturbed / float64(time.Minute) // orders a nanosecond
	until := run.To
	if back := backAt(after, rate); back < len(after) {
		until = after[back].begin()
		d.Back = new(max(0, (until - at).Seconds()))
	}
	var lost []Sample
	for i, sample := range after {
		if sample.begin() < max(until, after[0].begin()+backOver) {
			lost = after[:i+1]
		}
		if sample.begin() < until+backOver {
			d.Errors = AddFailures(d.Errors, sample.Failures...)
			d.Longest = max(d.Longest, sample.Max)
		}
	}
	orders, length := ordersOf(lost)
	d.Lost = rate*float64(length) - float64(orders)
	e, err := newBatchMeans(lessMean(base), len(lost), theMean)
	if err != nil {
		d.NoCI95 = err.Error()
		return d, nil
	}
	n := float64(len(lost))
	// The lost orders vary by themselves, over n samples, and with the undisturbed rate, which is
	// known from the samples before only.
	d.LostCI95 = new(Student(.975, e.freedom) * math.Sqrt(e.variance*(n+n*n/float64(len(base)))))
	return d, nil
}

// backAt is the first of some samples with which the rate of orders is back; their number where it
// never is, or too few follow.
func backAt(after []Sample, rate float64) int {
	for i := range after {
		var orders int64
		var length time.Duration
		for _, sample := range after[i:] {
			if length >= backOver-slack {
				break
			}
			orders += sample.Counts.Orders
			length += sample.Length
		}
		if length < backOver-slack {
			break
		}
		first := float64(after[i].Counts.Orders)
		if float64(orders) >= (1-backWithin)*rate*float64(length) &&
			first >= rate*float64(after[i].Length)/2 {
			return i
		}
	}
	return len(after)
}
