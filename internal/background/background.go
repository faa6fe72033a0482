// Package background reads beside the users of a run what a mail server reads beside its own: all
// pages of the database, slowly, one after the other. What was read is thrown away. How a server is
// asked for it is its engine's business.
package background

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/store"
)

// Scrubber is an engine whose databases can be scanned.
type Scrubber interface {
	// OpenScrub connects a Reader of the database's files as a background scan beside users at work
	// reads them: in their order, in requests of store.ScrubRequest, past the server's own cache
	// where that can be; after the last page it begins again.
	OpenScrub(ctx context.Context) (store.Reader, error)
}

// Scrubs are the scans of a run, one of each target.
type Scrubs struct {
	all  []*scrub
	ctx  context.Context // of the reading; stop ends it
	stop context.CancelFunc
	done sync.WaitGroup
}

// scrub is one of them.
type scrub struct {
	open func(context.Context) (store.Reader, error)
	log  *slog.Logger

	mu     sync.Mutex // of what a Source reads while the scan is at work
	record result.Scrub
	slow   time.Duration // of all requests
}

// NewScrubs makes the scans of the targets, each of rate bytes a second, without connecting; of
// rate 0 there are none. The error is of an engine that has none.
func NewScrubs(targets []store.Database, rate float64, log *slog.Logger) (*Scrubs, error) {
	s := &Scrubs{}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if rate == 0 {
		return s, nil
	}
	for _, target := range targets {
		engine, ok := target.(Scrubber)
		if !ok {
			return nil, store.Unsupported(target, "background scans")
		}
		record := result.Scrub{Target: target.Label(), Rate: rate, Device: new(int64(0))}
		s.all = append(s.all, &scrub{record: record, open: engine.OpenScrub, log: log})
	}
	return s, nil
}

// CheckScrubs connects a scan of each target and disconnects again: a server that does not let it
// read says so.
func CheckScrubs(ctx context.Context, targets []store.Database) error {
	s, err := NewScrubs(targets, 1, nil)
	if err != nil {
		return err
	}
	for _, one := range s.all {
		from, err := one.open(ctx)
		if err != nil {
			return err
		}
		from.Close()
	}
	return nil
}

// Start connects the scans and begins to read, until Close.
func (s *Scrubs) Start() {
	for _, one := range s.all {
		s.done.Go(func() { one.scanUntil(s.ctx) })
	}
}

// Close ends the reading, and disconnects. It may be called twice, and without Start.
func (s *Scrubs) Close() {
	s.stop()
	s.done.Wait()
}

// Sources are the counters of all scans together; none where there are no scans.
func (s *Scrubs) Sources() []sampling.Source {
	if len(s.all) == 0 {
		return nil
	}
	return []sampling.Source{sampling.Scrub(func() (requests, bytes, device float64) {
		for _, one := range s.all {
			one.mu.Lock()
			requests += float64(one.record.Requests)
			bytes += float64(one.record.Bytes)
			if one.record.Device != nil {
				device += float64(*one.record.Device)
			} else {
				device = math.NaN()
			}
			one.mu.Unlock()
		}
		return requests, bytes, device
	})}
}

// Results are what each scan came to. It is called after Close.
func (s *Scrubs) Results() (all []result.Scrub) {
	for _, one := range s.all {
		all = append(all, one.record)
	}
	return all
}

// again is the pause before a scan connects again, or goes on after a request that failed.
const again = time.Second

// scanUntil reads until ctx ends. A server that is gone is connected to again, as soon as it is
// there.
func (s *scrub) scanUntil(ctx context.Context) {
	began := time.Now()
	defer func() { s.record.Seconds = time.Since(began).Seconds() }()
	var from store.Reader
	told := false
	// What was late is caught up for a second at most, as drives that are slow for a while should
	// not be read twice as fast afterwards.
	pace := rate.NewLimiter(rate.Limit(s.record.Rate), max(1, int(s.record.Rate)))
	pace.AllowN(began, pace.Burst()) // nothing is late yet
	for ctx.Err() == nil {
		var err error
		if from == nil {
			from, err = s.open(ctx)
		}
		if err == nil {
			err = s.readPages(ctx, from, pace)
		}
		if ctx.Err() != nil {
			break
		}
		s.record.Failures++
		s.record.Error = err.Error()
		if !told {
			s.log.Warn("cannot read beside the users", "error", err)
		}
		told = true
		if from != nil && store.Classify(err) == store.Connection {
			from.Close()
			from = nil
			told = false
		}
		progress.Pause(ctx, again)
	}
	if from != nil {
		from.Close()
	}
}

// readPages reads until there is an error.
func (s *scrub) readPages(ctx context.Context, from store.Reader, pace *rate.Limiter) error {
	for {
		start := time.Now()
		read, err := from.Read(ctx)
		if err != nil {
			return err
		}
		s.countRead(read, time.Since(start))
		for left, burst := int(read.Bytes), pace.Burst(); left > 0; left -= burst {
			if err := pace.WaitN(ctx, min(left, burst)); err != nil {
				return err
			}
		}
	}
}

// countRead adds a request that was served.
func (s *scrub) countRead(read store.Read, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.record
	s.slow += took
	r.Requests++
	r.Bytes += read.Bytes
	r.MeanMS = new(s.slow.Seconds() * 1e3 / float64(r.Requests))
	if ms := took.Seconds() * 1e3; r.MaxMS == nil || ms > *r.MaxMS {
		r.MaxMS = &ms
	}
	if read.Device < 0 {
		r.Device = nil
	} else if r.Device != nil {
		*r.Device += read.Device
	}
	if read.Last {
		r.Passes++
	}
}
