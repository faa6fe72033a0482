package monitor

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Interval is the time between two samples.
const Interval = time.Second

// Row is one sample: a value for each column, NaN where there is none.
type Row struct {
	Time   time.Time
	Values []float64
}

// Sampler reads its sources once a second. A source that does not answer within the second leaves
// NaN in the row and is not asked again before it has answered, so a hanging database never holds
// up the counters of the disks.
type Sampler struct {
	probes []*probe
	log    *slog.Logger

	mu sync.Mutex // of the probes' latest values
}

// NewSampler makes a Sampler that has not started.
func NewSampler(log *slog.Logger, sources ...Source) *Sampler {
	s := &Sampler{log: log}
	for _, src := range sources {
		s.probes = append(
			s.probes,
			&probe{Source: src, column: len(s.Columns()), latest: unknown(len(src.Figures))},
		)
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
	busy, failed bool
	latest       []float64 // raw values, also of a read that failed
	was          []float64
	wasAt        time.Time

	// Of its last read, for Run where it is not busy.
	asked, at time.Time
	values    []float64
	err       error
}

// Run samples at start, start+1s, … until ctx ends, and hands each row to emit, in order of time
// and from one goroutine. Counters need two reads, so the first row stands at start+1s. Rows carry
// the time they were due.
func (s *Sampler) Run(ctx context.Context, start time.Time, emit func(Row)) {
	answers := make(chan *probe)
	var readers sync.WaitGroup
	defer readers.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	for _, p := range s.probes { // it may have run before, and ended amid a read
		p.busy = false
		p.was = unknown(len(p.Figures))
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
				if p.busy {
					continue
				}
				p.busy = true
				missing++
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
			values := s.take(p)
			if row.Values != nil && p.asked.Equal(row.Time) {
				copy(row.Values[p.column:], values)
				if missing--; missing == 0 {
					finish()
				}
			}
		}
	}
}

// take keeps an answer as the newest one and returns the source's columns. A source that fails is
// logged once, until it works again.
func (s *Sampler) take(p *probe) []float64 {
	p.busy = false
	if p.err != nil && !p.failed {
		s.log.Warn("cannot sample "+p.Name, "error", p.err)
	} else if p.err == nil && p.failed {
		s.log.Info("sampling again: " + p.Name)
	}
	p.failed = p.err != nil

	s.mu.Lock()
	p.latest = p.values
	s.mu.Unlock()

	values := make([]float64, len(p.Columns))
	for i, c := range p.Columns {
		values[i] = c.value(p.at.Sub(p.wasAt).Seconds(), p.was, p.values)
	}
	if p.err == nil {
		p.was, p.wasAt = p.values, p.at
	}
	return values
}
