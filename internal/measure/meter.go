package measure

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Meter gathers what all users of a run recorded. It keeps sums, not samples and intervals: those
// are handed out once, and its size does not grow with the length of a run. Enter, Sample and
// Interval are called by the one goroutine that keeps the run's time; what reads figures may be
// called by anyone.
type Meter struct {
	names     []string       // of the operations, then WholeOrder
	own       Counts         // none yet, with the names of the workload's own
	recorders [][]*Recorder  // by target
	second    []Distribution // of the sample under way, as names
	// of the one under way, as names, then the waits of orders that were dropped
	interval []Distribution
	slowest  slowest       // of the interval under way
	from     time.Duration // where the interval began
	sampled  time.Duration // when the last sample closed
	empty    *Order

	mu       sync.Mutex // guards what follows
	phase    Phase
	progress progress
	targets  []targetMeter
	recent   [100]time.Duration // the workload's own response times of the last orders, as a ring
	next     int
}

// targetMeter is one target's part.
type targetMeter struct {
	totals   Totals
	reset    Tally    // when its figures are set back: at the end of the warm-up
	progress progress // Counts.Orders only
}

// Totals is what one target's users did since the start.
type Totals struct {
	Target    string
	Users     Users
	Counts    Counts
	Errors    map[Failure]int64
	Retries   map[Failure]int64
	Durations []Distribution // of the operations, then of the whole order
	OwnTime   time.Duration  // the sum of the orders' response times in the workload's own meaning
	Rates     Rates
}

// Sum are the counts of all targets, and their failed attempts.
func Sum(targets []Totals) (counts Counts, failed int64) {
	for _, t := range targets {
		counts.Add(t.Counts)
		for _, n := range t.Errors {
			failed += n
		}
	}
	return counts, failed
}

// NewMeter makes a meter for operations 0 to len(operations)-1 on the targets, by label, and for
// the counts of a workload's own, at most MaxOwn.
func NewMeter(operations, targets []string, own ...string) *Meter {
	m := &Meter{
		own:       Counts{Names: &own},
		names:     append(slices.Clone(operations), WholeOrder),
		recorders: make([][]*Recorder, len(targets)),
		empty:     new(Order),
		phase:     PhaseConnect,
	}
	for _, name := range m.names {
		m.interval = append(m.interval, newDistribution(name))
		m.second = append(m.second, newDistribution(name))
	}
	m.interval = append(m.interval, newDistribution(droppedOrder))
	for _, label := range targets {
		t := Totals{
			Target:  label,
			Counts:  m.own,
			Errors:  map[Failure]int64{},
			Retries: map[Failure]int64{},
		}
		for _, name := range m.names {
			t.Durations = append(t.Durations, newDistribution(name))
		}
		m.targets = append(m.targets, targetMeter{totals: t})
	}
	return m
}

// NewRecorder makes the recorder of one more user of a target. All are made before the first
// sample.
func (m *Meter) NewRecorder(target int) *Recorder {
	r := &Recorder{full: new(Order)}
	m.recorders[target] = append(m.recorders[target], r)
	return r
}

// Enter begins a phase. Samples are of the phase in which they close.
func (m *Meter) Enter(p Phase) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase = p
}

// Phase is the one that the run is in.
func (m *Meter) Phase() Phase {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.phase
}

// Sample empties all recorders and closes the sample that ends now, at t after the first orders.
// The users are those of each target.
func (m *Meter) Sample(t time.Duration, users []Users) Sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Sample{End: t, Length: t - m.sampled, Phase: m.phase, Counts: m.own}
	m.sampled = t
	for i := range m.targets {
		target := &m.targets[i]
		if m.phase == PhaseRun && !target.progress.ran {
			target.reset = target.totals.tally()
		}
		target.totals.Users = users[i]
		s.Users += users[i].AtWork()
		s.HeldUp += users[i].HeldUp()
		own := Sample{End: s.End, Length: s.Length, Phase: s.Phase}
		for _, r := range m.recorders[i] {
			// What is read here becomes the next user's empty order, so that a second allocates
			// none.
			b := r.swap(m.empty)
			s.OwnTime += m.takeOrders(&target.totals, b)
			s.Counts.Add(b.Counts)
			s.Errors += int64(len(b.errors))
			for _, f := range b.errors {
				s.Failures = AddFailures(s.Failures, f.Count(1, ""))
			}
			own.Counts.Orders += b.Orders
			b.reset()
			m.empty = b
		}
		target.progress.add(own)
	}
	last := len(m.names) - 1
	order := m.second[last].Latency()
	s.Mean = order.Mean
	s.P95 = order.P95
	s.Max = order.Max
	for i := range m.second {
		if d := &m.second[i]; d.Count() > 0 {
			if i < last {
				p95 := float64(d.histogram.ValueAtQuantile(95)) / 1000
				s.Operations = append(s.Operations, OperationP95{d.Name, p95})
			}
			d.reset()
		}
	}
	m.progress.add(s)
	return s
}

// takeOrders adds one user's orders to its target's totals and to the histograms under way, and
// gives the sum of its orders' response times in the workload's own meaning.
func (m *Meter) takeOrders(t *Totals, b *Order) (own time.Duration) {
	t.Counts.Add(b.Counts)
	for _, f := range b.errors {
		t.Errors[f]++
	}
	for _, f := range b.retries {
		t.Retries[f]++
	}
	first := 0 // of the order's latencies
	for n, l := range b.latencies {
		i := l.series
		if i < 0 {
			// What ends an order follows its operations.
			operations := b.latencies[first:n]
			first = n + 1
			switch i {
			case dropped:
				m.interval[len(m.names)].add(l.d)
				continue
			case gaveUp:
				continue
			}
			m.slowest.note(l.at, l.d, operations, m.names)
			own += l.own
			m.recent[m.next] = l.own
			m.next = (m.next + 1) % len(m.recent)
			i = len(m.names) - 1
		}
		m.second[i].add(l.d)
		m.interval[i].add(l.d)
		t.Durations[i].add(l.d)
	}
	t.OwnTime += own
	return own
}

// Interval closes the histograms since the last call, or since the start; it follows a Sample of
// the same t.
func (m *Meter) Interval(t time.Duration) Interval {
	iv := NewInterval(m.from, t)
	iv.Slowest = slices.Clone(m.slowest)
	m.slowest = m.slowest[:0]
	for i := range m.interval {
		if d := &m.interval[i]; d.Count() > 0 {
			iv.Histograms[d.Name] = encode(d.histogram)
			iv.Sums[d.Name] = d.Sum
			d.reset()
		}
	}
	m.from = t
	return iv
}

// Progress is how the run stands.
func (m *Meter) Progress() Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.progress.now()
}

// RecentMax is the longest response time, in the workload's own meaning, of the last 100 orders.
func (m *Meter) RecentMax() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Max(m.recent[:])
}

// Totals gives a copy of each target's totals, as of the last sample.
func (m *Meter) Totals() []Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Totals, len(m.targets))
	for i := range m.targets {
		t := m.targets[i].totals
		t.Rates = m.targets[i].progress.now().Rates
		// Copies, since the meter goes on counting into its own.
		t.Errors, t.Retries = maps.Clone(t.Errors), maps.Clone(t.Retries)
		t.Durations = slices.Clone(t.Durations)
		for k := range t.Durations {
			t.Durations[k].histogram = t.Durations[k].histogram.Clone()
		}
		out[i] = t
	}
	return out
}
