package measure

import (
	"maps"
	"slices"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Meter gathers what all users of a run recorded. Sample and Interval are called by the one goroutine that keeps the
// run's time; Totals and Now by anyone.
type Meter struct {
	series    []string // the operations, then OrderSeries
	recorders []target
	second    *hdr.Histogram // of orders since the last sample
	interval  []*hdr.Histogram
	from      time.Duration // where the interval began
	sampled   time.Duration // when the last sample closed
	empty     *batch

	mu     sync.Mutex // guards what follows
	phase  Phase
	totals []Totals // by target
	now    Sample
	recent [100]time.Duration // DS2's response times of the last orders, as a ring
	next   int
}

type target struct{ users []*Recorder }

// Totals is what one target's users did since the start. It only ever grows.
type Totals struct {
	Target  string
	Users   Users
	Counts  Counts
	Errors  map[Failure]int64
	Retries map[Failure]int64
	Series  []Distribution // the operations, then the whole order
	DS2Time time.Duration  // the sum of the orders' response times in DS2's meaning
}

// Distribution is the response times of one series of a target since the start.
type Distribution struct {
	Name      string
	Sum       time.Duration
	histogram *hdr.Histogram
}

// NewMeter makes a meter for operations 0 to len(operations)-1 on the targets, by label.
func NewMeter(operations, targets []string) *Meter {
	m := &Meter{
		series:    append(append([]string{}, operations...), OrderSeries),
		recorders: make([]target, len(targets)),
		second:    newHistogram(),
		empty:     new(batch),
		phase:     PhaseConnect,
	}
	for range m.series {
		m.interval = append(m.interval, newHistogram())
	}
	for _, label := range targets {
		t := Totals{Target: label, Errors: map[Failure]int64{}, Retries: map[Failure]int64{}}
		for _, name := range m.series {
			t.Series = append(t.Series, Distribution{Name: name, histogram: newHistogram()})
		}
		m.totals = append(m.totals, t)
	}
	return m
}

// NewRecorder makes the recorder of one more user of a target. All are made before the first sample.
func (m *Meter) NewRecorder(target int) *Recorder {
	r := &Recorder{full: new(batch)}
	m.recorders[target].users = append(m.recorders[target].users, r)
	return r
}

// Enter begins a phase. Samples are of the phase in which they close.
func (m *Meter) Enter(p Phase) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase = p
}

// Phase is the phase under way.
func (m *Meter) Phase() Phase {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.phase
}

// Sample empties all recorders and closes the sample that ends now, at t after the first orders. The users are those of
// each target.
func (m *Meter) Sample(t time.Duration, users []Users) Sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Sample{End: t, Length: t - m.sampled, Phase: m.phase}
	for i := range m.totals {
		m.totals[i].Users = users[i]
		s.Users += users[i].AtWork()
	}
	m.second.Reset()
	for i := range m.recorders {
		for _, r := range m.recorders[i].users {
			b := r.swap(m.empty)
			m.take(&m.totals[i], b)
			s.Counts.Add(b.Counts)
			s.Errors += int64(len(b.errors))
			b.reset()
			m.empty = b
		}
	}
	order := summarize(m.second)
	s.Mean, s.P95, s.Max = order.Mean, order.P95, order.Max
	m.sampled, m.now = t, s
	return s
}

// take adds one user's batch to its target's totals and to the histograms under way.
func (m *Meter) take(t *Totals, b *batch) {
	t.Counts.Add(b.Counts)
	for _, f := range b.errors {
		t.Errors[f]++
	}
	for _, f := range b.retries {
		t.Retries[f]++
	}
	for _, l := range b.latencies {
		i := l.series
		if i == wholeOrder {
			i = len(m.series) - 1
			observe(m.second, l.d)
		}
		observe(m.interval[i], l.d)
		observe(t.Series[i].histogram, l.d)
		t.Series[i].Sum += l.d
	}
	for _, d := range b.ds2 {
		t.DS2Time += d
		m.recent[m.next] = d
		m.next = (m.next + 1) % len(m.recent)
	}
}

// Interval closes the histograms since the last call, or since the start; it follows a Sample of the same t.
func (m *Meter) Interval(t time.Duration) Interval {
	iv := Interval{From: m.from, To: t, Histograms: map[string]string{}}
	for i, h := range m.interval {
		if h.TotalCount() > 0 {
			iv.Histograms[m.series[i]] = encode(h)
			h.Reset()
		}
	}
	m.from = t
	return iv
}

// Now is the last sample.
func (m *Meter) Now() Sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// MaxOfLast100 is the longest response time, in DS2's meaning, of the last 100 orders.
func (m *Meter) MaxOfLast100() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Max(m.recent[:])
}

// Totals gives a copy of each target's totals, as of the last sample.
func (m *Meter) Totals() []Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Totals, len(m.totals))
	for i, t := range m.totals {
		out[i] = t
		out[i].Errors, out[i].Retries = maps.Clone(t.Errors), maps.Clone(t.Retries)
		out[i].Series = make([]Distribution, len(t.Series))
		for k, d := range t.Series {
			out[i].Series[k] = Distribution{Name: d.Name, Sum: d.Sum, histogram: d.histogram.Clone()}
		}
	}
	return out
}
