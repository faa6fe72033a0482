package sampling

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"
)

// Interval is the time between two samples.
const Interval = time.Second

// Row is one sample: a value for each column, NaN where there is none.
type Row struct {
	Time   time.Time
	Values []float64
	// Covers is how many seconds up to Time each value stands for; nil: Interval.
	Covers []float64
}

// Covered is how many seconds up to the row's time the value of a column stands for; none where
// there is none.
func (r Row) Covered(column int) float64 {
	switch {
	case math.IsNaN(r.Values[column]):
		return 0
	case r.Covers == nil:
		return Interval.Seconds()
	}
	return r.Covers[column]
}

// setCovered notes how long a value stands for.
func (r *Row) setCovered(column int, seconds float64) {
	if r.Covers == nil && seconds != Interval.Seconds() {
		r.Covers = slices.Repeat([]float64{Interval.Seconds()}, len(r.Values))
	}
	if r.Covers != nil {
		r.Covers[column] = seconds
	}
}

// errStandsStill is of a source that shows what it showed before, as a cache does: that is no
// reading.
var errStandsStill = errors.New("shows what it showed before")

// Sampler reads its sources once a second. A source that does not answer within the second leaves
// NaN in the row and is not asked again before it has answered, so a hanging database never holds
// up the counters of the disks. Its answer goes into the row that is open when it comes, and stands
// for all the time since the last row that it is in.
type Sampler struct {
	probes []*probe
	log    *slog.Logger

	mu sync.Mutex // of the probes' latest values
}

// NewSampler makes a Sampler that has not started.
func NewSampler(log *slog.Logger, sources ...Source) *Sampler {
	s := &Sampler{log: log}
	for _, src := range sources {
		s.probes = append(s.probes,
			&probe{Source: src, column: len(s.Columns()), latest: unknown(len(src.Figures))})
	}
	return s
}

// Columns are the names of a row's values, in their order.
func (s *Sampler) Columns() []string {
	var names []string
	for _, p := range s.probes {
		for _, c := range p.Columns {
			names = append(names, c.Name)
		}
	}
	return names
}

// Latest calls f with each figure and its newest raw value, NaN before the first and where it could
// not be read.
func (s *Sampler) Latest(f func(Figure, float64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.probes {
		for i, figure := range p.Figures {
			f(figure, p.latest[i])
		}
	}
}

// probe is one source at work: its raw values before and now, and where its columns begin in a row.
type probe struct {
	Source
	column       int
	states       []bool // of the columns: they are as they were read, and no growth
	busy, failed bool
	latest       []float64 // raw values, also of a read that failed

	was   []float64 // of the last row that has values of it
	wasAt time.Time
	wrote time.Time // that row's
	// It stood still since, and whether it is known when what it shows was counted: it is of a
	// source that was seen to move on.
	still, dated bool

	// Of its last read, for Run where it is not busy.
	asked, at time.Time
	values    []float64
	err       error
}

// beginSampling forgets what was read before a sampling that starts now.
func (p *probe) beginSampling(start time.Time) {
	p.busy = false // it may have run before, and ended amid a read
	p.still = false
	p.dated = false
	p.was = unknown(len(p.Figures))
	p.wasAt = time.Time{}
	p.wrote = start.Add(-Interval)
	// A column that has a value though nothing was read before it is of a state, and no growth.
	p.states = make([]bool, len(p.Columns))
	for i, c := range p.Columns {
		p.states[i] = !math.IsNaN(c.Value(1, p.was, make([]float64, len(p.Figures))))
	}
}

// Run samples at start, start+1s, … until ctx ends, and hands each row to emit, in order of time
// and from one goroutine. Counters need two reads, so the first row stands at start+1s. Rows carry
// the time they were due.
func (s *Sampler) Run(ctx context.Context, start time.Time, emit func(Row)) {
	// Only this goroutine touches the open row and, but for its latest values, a probe that has
	// answered: neither needs a lock.
	answers := make(chan *probe)
	var readers sync.WaitGroup
	defer readers.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	for _, p := range s.probes {
		p.beginSampling(start)
	}
	columns := len(s.Columns())
	var row Row
	missing := 0 // sources that still owe the row their values
	finish := func() {
		if row.Values != nil && row.Time.After(start) {
			emit(row)
		}
		row.Values = nil
		missing = 0
	}

	due := start
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			finish()
			return
		case <-timer.C:
			finish()
			row = Row{Time: due, Values: unknown(columns)}
			for _, p := range s.probes {
				missing++
				if p.busy {
					continue
				}
				p.busy = true
				p.asked, p.values = due, unknown(len(p.Figures))
				readers.Go(func() {
					p.err = p.Read(ctx, p.values)
					p.at = time.Now()
					select {
					case answers <- p:
					case <-ctx.Done():
					}
				})
			}
			// After a pause of the whole machine, go on at the next second instead of catching up.
			due = due.Add(max(Interval, time.Since(due).Truncate(Interval)))
			timer.Reset(time.Until(due))
		case p := <-answers:
			s.takeAnswer(p, &row)
			if missing--; missing == 0 {
				finish()
			}
		}
	}
}

// takeAnswer keeps an answer as the newest one and puts the source's columns into the open row. A
// source that fails is logged once, until it works again.
func (s *Sampler) takeAnswer(p *probe, row *Row) {
	p.busy = false
	if errors.Is(p.err, errStandsStill) {
		p.still = true
		return
	}
	if p.err != nil && !p.failed {
		s.log.Warn("cannot sample "+p.Name, "error", p.err)
	} else if p.err == nil && p.failed {
		s.log.Info("sampling again: " + p.Name)
	}
	p.failed = p.err != nil

	s.mu.Lock()
	p.latest = p.values
	s.mu.Unlock()

	if !slices.ContainsFunc(p.values, func(v float64) bool { return !math.IsNaN(v) }) {
		return
	}
	// What a cache showed when it was first asked was counted some time before, nobody knows when.
	if !p.still || p.dated {
		p.writeColumns(row)
	}
	p.dated = p.dated || p.still || !p.wasAt.IsZero()
	p.still = false
	p.was = p.values
	p.wasAt = p.at
	p.wrote = row.Time
}

// writeColumns puts the columns into a row. What was counted stands for the time since the last
// one, what was read as it is for the time that the source took to answer, as long as it is fresh.
func (p *probe) writeColumns(row *Row) {
	since := row.Time.Sub(p.wrote)
	taken := min(row.Time.Sub(p.asked)+Interval, since, StaleAfter)
	for i, c := range p.Columns {
		row.Values[p.column+i] = c.Value(p.at.Sub(p.wasAt).Seconds(), p.was, p.values)
		covers := since
		if p.states[i] {
			covers = taken
		}
		row.setCovered(p.column+i, covers.Seconds())
	}
}
