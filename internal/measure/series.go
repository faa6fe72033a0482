package measure

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Sample is one second of a run, or less where a phase or a window begins or ends within it.
type Sample struct {
	End    time.Duration `csv:"t_s"` // since the first orders
	Length time.Duration // since the end of the sample before
	Phase  Phase         `csv:"phase"`
	Users  int           `csv:"users"` // at work when the sample closed
	// of these, by something that failed: they wait to try again, or connect again
	HeldUp int `csv:"held_up"`
	Counts Counts
	Errors int64 `csv:"errors"` // failed attempts, of all classes
	// Failures are the same by operation and class.
	Failures []FailureCount

	// response time of the orders that were completed, in milliseconds
	Mean float64 `csv:"mean_ms"`
	P95  float64 `csv:"p95_ms"`
	Max  float64 `csv:"max_ms"`
	// sum of their response times in the workload's own meaning (WORKLOAD.md section 5)
	OwnTime time.Duration `csv:"own_ns"`

	Operations []OperationP95 // of those that were called
}

// OperationP95 is the 95th percentile of an operation's response times, in milliseconds.
type OperationP95 struct {
	Name string
	P95  float64
}

// Add adds the orders of another sample, of a second beside it or of another machine. Percentiles
// do not add up: the higher one stays.
func (s *Sample) Add(b Sample) {
	if orders := s.Counts.Orders + b.Counts.Orders; orders > 0 {
		sum := s.Mean*float64(s.Counts.Orders) + b.Mean*float64(b.Counts.Orders)
		s.Mean = sum / float64(orders)
	}
	s.Counts.Add(b.Counts)
	s.Errors += b.Errors
	s.Failures = AddFailures(slices.Clone(s.Failures), b.Failures...)
	s.OwnTime += b.OwnTime
	s.P95 = max(s.P95, b.P95)
	s.Max = max(s.Max, b.Max)
	s.Operations = slices.Clone(s.Operations)
	for _, o := range b.Operations {
		if i := slices.IndexFunc(s.Operations, func(one OperationP95) bool {
			return one.Name == o.Name
		}); i < 0 {
			s.Operations = append(s.Operations, o)
		} else {
			s.Operations[i].P95 = max(s.Operations[i].P95, o.P95)
		}
	}
}

// begin is when the sample before ended.
func (s Sample) begin() time.Duration { return s.End - s.Length }

// OPM is the rate of completed orders a minute.
func (s Sample) OPM() float64 { return OrdersPerMinute(s.Counts.Orders, s.Length) }

// OrdersPerMinute is the rate of orders over a time; 0 over none.
func OrdersPerMinute(orders int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(orders) * 60 / d.Seconds()
}

// Series is what a run recorded: enough to compute the figures of any window.
type Series struct {
	Samples   []Sample
	Intervals []Interval
	Slow      []SlowOrder // the slowest of each interval
	// Cycles is when something that comes back began each time, such as a checkpoint; nil where
	// unknown.
	Cycles []time.Duration
	// NoCycles says, as a sentence, why there are none; empty: there may be.
	NoCycles string
}

// PhaseSpan is when a phase of a run took place.
type PhaseSpan struct {
	Phase Phase   `json:"phase"`
	From  float64 `json:"from_s"`
	To    float64 `json:"to_s"`
}

// Span is a part of a run, in time since the first orders.
type Span struct{ From, To time.Duration }

// Seconds is a time of a record, in which times are numbers of seconds.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// opm is the rate over the samples in span, 0 where there are none.
func (s Series) opm(span Span) float64 { return OrdersPerMinute(ordersOf(s.within(span))) }

// ordersOf are the orders of samples, and their length.
func ordersOf(samples []Sample) (orders int64, length time.Duration) {
	for _, s := range samples {
		orders += s.Counts.Orders
		length += s.Length
	}
	return orders, length
}

// Phase is the span of a phase, of length zero where the run never reached it.
func (s Series) Phase(p Phase) Span {
	var span Span
	for i, sample := range s.Samples {
		if sample.Phase != p {
			continue
		}
		if i == 0 || s.Samples[i-1].Phase != p {
			span.From = sample.begin()
		}
		span.To = sample.End
	}
	return span
}

// Phases lists the phases that the run went through.
func (s Series) Phases() []PhaseSpan {
	var spans []PhaseSpan
	for _, p := range Phases {
		if span := s.Phase(p); span.To > 0 {
			spans = append(spans,
				PhaseSpan{Phase: p, From: span.From.Seconds(), To: span.To.Seconds()})
		}
	}
	return spans
}

// Window is the figures of a part of a run. It begins and ends where samples do, at most a few
// milliseconds from where it was asked to, so that Counts.Orders × 60 / (To − From) is OPM.
type Window struct {
	Name string  `json:"name"`
	From float64 `json:"from_s"` // since the first orders
	To   float64 `json:"to_s"`

	OPM float64 `json:"opm"` // completed orders a minute
	// CI95 is half the width of the 95 % confidence interval of OPM, by overlapping batch means
	// over the run that the window is part of, or over its whole checkpoint cycles; null where the
	// run is too short for one, and NoCI95 says why.
	CI95   *float64 `json:"opm_ci95"`
	NoCI95 string   `json:"no_opm_ci95,omitempty"`
	// FewSamples says why the interval is wide and less certain than others; empty where it is not.
	FewSamples string `json:"few_independent_samples,omitempty"`
	// RunningAverageOPM is the mean, over the samples of the window, of the average rate at each of
	// them: the average since the end of the warm-up. It is how the storage report's figures were
	// made (WORKLOAD.md section 5).
	RunningAverageOPM float64 `json:"opm_running_average"`

	Cycle  *Cycle     `json:"cycle,omitempty"` // absent where unknown
	Steady Steadiness `json:"steady"`
	Trend  *Trend     `json:"trend,omitempty"` // absent where the window is too short
	Counts Counts     `json:"counts"`
	Errors int64      `json:"errors"`
	// HeldUp is the share of the users' time in which they waited to try again what failed, or
	// connected again, and Stalled that of the window in which no order was completed while
	// attempts failed.
	HeldUp  float64 `json:"held_up_ratio"`
	Stalled float64 `json:"stalled_ratio"`
	// Still is the share of the window in which no order was completed for so long on end that it
	// was no chance, whatever failed, and LongestStill the longest of these times.
	Still        float64            `json:"still_ratio,omitempty"`
	LongestStill float64            `json:"longest_still_s,omitempty"`
	Latency      map[string]Latency `json:"latency"`
	// IO is the times of I/Os by drive and what they were for, such as "nvme0n1 log flush", where
	// they were traced.
	IO map[string]Latency `json:"io,omitempty"`
	// OwnMean is the mean response time of the orders in the workload's own meaning, in
	// milliseconds: without the operations outside it and, in an open loop, without the wait for a
	// user. Absent where there are no such times.
	OwnMean *float64 `json:"own_mean_ms,omitempty"`
	// Latency is of the histograms that lie between these; they are the window's own bounds where
	// the window was known before the run.
	LatencyFrom float64 `json:"latency_from_s"`
	LatencyTo   float64 `json:"latency_to_s"`
}

// Compute gives the figures of the window that spec asks for. An automatic window of a run that
// never became steady is that of the run phase, with a verdict that says so.
func (s Series) Compute(spec WindowSpec) (Window, error) {
	span := spec.Span
	found := true
	run := s.Phase(PhaseRun)
	switch {
	case spec.OfRun && run.To == 0:
		const format = "compute window %s: the run did not reach its run phase"
		return Window{Name: spec.Name}, fmt.Errorf(format, spec)
	case spec.OfRun:
		span = Span{run.From + span.From, run.From + span.To}
	case spec.Cycles > 0:
		var err error
		if span, err = s.lastCycles(spec.Cycles); err != nil {
			return Window{Name: spec.Name}, fmt.Errorf("compute window %s: %w", spec, err)
		}
	case spec.Auto:
		if span, found = s.Steady(); !found {
			span = run
		}
	}
	w, err := s.Window(spec.Name, span)
	if err == nil && !found {
		w.Steady.Verdict = false
		w.Steady.Why = "never steady: MSER-5 finds no steady part that begins in the first half; " +
			"these are the figures of the run phase"
	}
	return w, err
}

// Window computes the figures of a span of the run. A span without samples, or not wholly inside
// the run, is an error.
func (s Series) Window(name string, span Span) (Window, error) {
	w := Window{Name: name}
	var end time.Duration
	if len(s.Samples) > 0 {
		end = s.Samples[len(s.Samples)-1].End
	}
	samples := s.within(span)
	if span.To > end+slack || len(samples) == 0 {
		return w, fmt.Errorf(
			"compute window %s: it is outside the run, which lasted %s from the first orders on",
			name, end.Round(time.Second))
	}
	span = spanOf(samples)
	w.From = span.From.Seconds()
	w.To = span.To.Seconds()
	var own time.Duration
	for _, sample := range samples {
		w.Counts.Add(sample.Counts)
		w.Errors += sample.Errors
		own += sample.OwnTime
	}
	w.HeldUp, w.Stalled = heldUp(samples)
	w.Still, w.LongestStill = stoodStill(samples)
	w.OPM = OrdersPerMinute(w.Counts.Orders, span.To-span.From)
	if own > 0 && w.Counts.Orders > 0 {
		w.OwnMean = new(float64(own) / float64(time.Millisecond) / float64(w.Counts.Orders))
	}
	if half, few, err := s.ci95(samples); err != nil {
		w.NoCI95 = err.Error()
	} else {
		w.CI95 = &half
		w.FewSamples = few
	}
	w.RunningAverageOPM = s.meanRunningAverage(samples)
	w.Cycle = s.cycle(span)
	w.Steady = s.judge(span)
	w.Trend = s.trend(samples, w.Steady)
	times, err := s.Distributions(span)
	if err != nil {
		return w, fmt.Errorf("compute window %s: %w", name, err)
	}
	w.Latency = latencies(times.Operations)
	if len(times.IO) > 0 {
		w.IO = latencies(times.IO)
	}
	w.LatencyFrom = times.From.Seconds()
	w.LatencyTo = times.To.Seconds()
	return w, nil
}

// heldUp are Window.HeldUp and Window.Stalled. A stall is whole however rare its attempts are:
// users wait longer and longer between them.
func heldUp(samples []Sample) (users, stalled float64) {
	var all, held, stalls, still time.Duration
	failed := false
	length := time.Duration(0)
	for _, s := range samples {
		length += s.Length
		all += time.Duration(s.Users) * s.Length
		held += time.Duration(s.HeldUp) * s.Length
		if s.Counts.Orders > 0 {
			still = 0
			failed = false
			continue
		}
		still += s.Length // that may be of a stall
		if failed = failed || s.Errors > 0 || s.HeldUp > 0; failed {
			stalls += still
			still = 0
		}
	}
	return float64(held) / float64(max(all, 1)), float64(stalls) / float64(max(length, 1))
}

// A shorter time without an order, or one of fewer that would have been due, is none of a stall.
const (
	shortestStill = 5 * time.Second
	fewestMissed  = 20
)

// stoodStill are Window.Still and Window.LongestStill.
func stoodStill(samples []Sample) (share, longest float64) {
	var times []time.Duration
	var length, still time.Duration
	orders := int64(0)
	for i, s := range samples {
		length += s.Length
		orders += s.Counts.Orders
		if s.Counts.Orders == 0 && s.Users > 0 {
			still += s.Length
		}
		if s.Counts.Orders > 0 || i == len(samples)-1 {
			times = append(times, still)
			still = 0
		}
	}
	slices.Sort(times)
	rest := length // in which orders were completed
	all := time.Duration(0)
	for _, t := range slices.Backward(times) { // the longest first
		missed := float64(orders) / float64(rest-t) * float64(t)
		if t < shortestStill || missed < fewestMissed { // NaN: all stood still
			break
		}
		rest -= t
		all += t
		longest = max(longest, t.Seconds())
	}
	return float64(all) / float64(max(length, 1)), longest
}

// MostStill is the share of a window from which on it says how long the store stood still, and
// mostStalled that from which on it says what failed, not what the store can do.
const (
	MostStill   = 0.5
	mostStalled = 0.1
)

// Failed says, as a sentence without an end, that a window is one of failures; empty where it is
// not.
func (w Window) Failed() string {
	const nothing = "nothing was completed in %.0f %% of the window %s"
	switch {
	case w.Stalled >= mostStalled:
		return fmt.Sprintf(nothing+", while attempts failed", 100*w.Stalled, w.Name)
	case w.Still >= MostStill:
		return fmt.Sprintf(nothing, 100*w.Still, w.Name)
	}
	return ""
}

// slack is how far an interval may stand out of a window that it counts to, and the end of a window
// out of the run: samples close a little after their second.
const slack = 100 * time.Millisecond

// within gives the samples from the bound nearest to the begin of span to the one nearest to its
// end. Samples close a little after their second, and wherever a phase or a window given before the
// run ends.
func (s Series) within(span Span) []Sample {
	begin := s.nearest(span.From)
	end := s.nearest(span.To)
	return s.Samples[begin:max(begin, end)]
}

// nearest is how many samples lie before the bound between samples that is nearest to t.
func (s Series) nearest(t time.Duration) int {
	after := sort.Search(len(s.Samples), func(i int) bool { return s.Samples[i].End >= t })
	if after < len(s.Samples) && s.Samples[after].End-t <= t-s.Samples[after].begin() {
		return after + 1
	}
	return after
}

// meanRunningAverage is the mean over samples of 60 times the orders since the reset by the time
// since the reset. It is reset at the end of the warm-up; samples before that count from the first
// orders on.
func (s Series) meanRunningAverage(samples []Sample) float64 {
	reset := s.Phase(PhaseRun).From
	var orders int64
	var sum float64
	n := 0
	for _, sample := range s.Samples {
		if sample.begin() == reset {
			orders = 0
		}
		since := sample.End
		if sample.begin() >= reset {
			since -= reset
		}
		orders += sample.Counts.Orders
		if sample.End >= samples[0].End && sample.End <= samples[len(samples)-1].End {
			sum += OrdersPerMinute(orders, since)
			n++
		}
	}
	return sum / float64(n)
}

// latencies sums up each of some distributions.
func latencies(all map[string]Distribution) map[string]Latency {
	byName := make(map[string]Latency, len(all))
	for name, d := range all {
		byName[name] = d.Latency()
	}
	return byName
}

// Distributions merges the intervals that lie in span. The drain's interval may be shorter than
// slack, so an interval also has to have its middle in span.
func (s Series) Distributions(span Span) (Distributions, error) {
	all := Distributions{Operations: map[string]Distribution{}, IO: map[string]Distribution{}}
	for _, iv := range s.Intervals {
		middle := iv.From + (iv.To-iv.From)/2
		if iv.From < span.From-slack || iv.To > span.To+slack || middle < span.From ||
			middle > span.To {
			continue
		}
		if err := all.add(iv); err != nil {
			return Distributions{}, fmt.Errorf("merge histograms: %w", err)
		}
		if all.To == 0 {
			all.From = iv.From
		}
		all.To = max(all.To, iv.To)
	}
	return all, nil
}
