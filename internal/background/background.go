// Package background reads beside the users of a run what a mail server reads beside its own: all pages of the
// database, slowly, one after the other (a scrub), and the log, as often as there are copies of the database elsewhere.
// What was read is thrown away. How a server is asked for it is its engine's business.
package background

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/throttle"
)

// Config is what is to be read.
type Config struct {
	ScrubRate float64 // bytes a second of each target; 0: no scrub
	Copies    int     // readers of the log of each target
}

// Any says whether there is anything.
func (c Config) Any() bool { return c.ScrubRate > 0 || c.Copies > 0 }

// Readers are those of a run.
type Readers struct {
	all  []*reader
	stop context.CancelFunc
	done sync.WaitGroup
}

// reader is one of them. Its counts are read while it is at work.
type reader struct {
	target string
	rate   float64 // bytes a second; 0: what comes
	open   func(context.Context) (store.Reader, error)
	log    *slog.Logger

	requests, bytes, device atomic.Int64
	unknown                 atomic.Bool // bytes of which nobody knows where they came from

	passes, failures int
	failure          error // the last
	slow, longest    time.Duration
	began, ended     time.Time
}

// New makes the readers of the targets, without connecting. The error is of an engine that has no such reader.
func New(targets []store.Database, c Config, log *slog.Logger) (*Readers, error) {
	r := &Readers{}
	for _, target := range targets {
		add := func(rate float64, open func(context.Context) (store.Reader, error)) {
			r.all = append(r.all, &reader{target: target.Label(), rate: rate, open: open, log: log})
		}
		if c.ScrubRate > 0 {
			scrub := target.Can().OpenScrub
			if scrub == nil {
				return nil, store.Cannot(target, "background scans")
			}
			add(c.ScrubRate, scrub)
		}
		for range c.Copies {
			open := target.Can().OpenLog
			if open == nil {
				return nil, store.Cannot(target, "readers of its log")
			}
			add(0, open)
		}
	}
	return r, nil
}

// Check connects all of them and disconnects again: a server that does not let them read says so.
func Check(ctx context.Context, targets []store.Database, c Config) error {
	r, err := New(targets, c, nil)
	if err != nil {
		return err
	}
	var open []store.Reader
	defer func() {
		for _, one := range open {
			one.Close()
		}
	}()
	for _, one := range r.all { // all at once, since there may be too few slots
		from, err := one.open(ctx)
		if err != nil {
			return err
		}
		open = append(open, from)
	}
	return nil
}

// Start connects the readers and begins to read, until Close.
func (r *Readers) Start() {
	if r == nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	for _, one := range r.all {
		r.done.Go(func() { one.run(ctx) })
	}
}

// Close ends the reading, and disconnects. It may be called twice, and without Start.
func (r *Readers) Close() {
	if r != nil && r.stop != nil {
		r.stop()
		r.done.Wait()
	}
}

// Sources are the counters of the readers.
func (r *Readers) Sources() (sources []monitor.Source) {
	if r == nil {
		return nil
	}
	for _, kind := range []struct {
		scrub  bool
		source func(func() monitor.BackgroundCounts) monitor.Source
	}{{true, monitor.Scrub}, {false, monitor.Copies}} {
		if slices.ContainsFunc(r.all, func(one *reader) bool { return one.rate > 0 == kind.scrub }) {
			sources = append(sources, kind.source(func() (all monitor.BackgroundCounts) {
				for _, one := range r.all {
					if one.rate > 0 == kind.scrub {
						all.Requests += float64(one.requests.Load())
						all.Bytes += float64(one.bytes.Load())
						all.Device += float64(one.device.Load())
						if one.unknown.Load() {
							all.Device = math.NaN()
						}
					}
				}
				return all
			}))
		}
	}
	return sources
}

// Results are what each reader came to, scrubs and readers of the log. It is called after Close.
func (r *Readers) Results() (scrubs, copies []result.Reader) {
	if r == nil {
		return nil, nil
	}
	for _, one := range r.all {
		if one.rate > 0 {
			scrubs = append(scrubs, one.result())
		} else {
			copies = append(copies, one.result())
		}
	}
	return scrubs, copies
}

func (r *reader) result() result.Reader {
	x := result.Reader{
		Target: r.target, Rate: r.rate, Seconds: r.ended.Sub(r.began).Seconds(),
		Requests: r.requests.Load(), Bytes: r.bytes.Load(), Passes: r.passes, Failures: r.failures,
	}
	if r.failure != nil {
		x.Error = r.failure.Error()
	}
	if !r.unknown.Load() {
		x.Device = new(r.device.Load())
	}
	if r.rate > 0 && x.Requests > 0 {
		x.MeanMS, x.MaxMS = new(r.slow.Seconds()*1e3/float64(x.Requests)), new(r.longest.Seconds()*1e3)
	}
	return x
}

// again is the pause before a reader connects again, or goes on after a request that failed.
const again = time.Second

// run reads until ctx ends. A server that is gone is connected to again, as soon as it is there.
func (r *reader) run(ctx context.Context) {
	r.began = time.Now()
	defer func() { r.ended = time.Now() }()
	var from store.Reader
	told := false
	throttle := throttle.New(r.rate)
	for ctx.Err() == nil {
		var err error
		if from == nil {
			from, err = r.open(ctx)
		}
		if err == nil {
			err = r.read(ctx, from, throttle)
		}
		if ctx.Err() != nil {
			break
		}
		r.failures, r.failure = r.failures+1, err
		if !told {
			r.log.Warn("cannot read beside the users", "error", err)
		}
		told = true
		if from != nil && store.Classify(err) == store.Connection {
			from.Close()
			from, told = nil, false
		}
		progress.Pause(ctx, again)
	}
	if from != nil {
		from.Close()
	}
}

// read reads until there is an error.
func (r *reader) read(ctx context.Context, from store.Reader, throttle throttle.Throttle) error {
	for {
		start := time.Now()
		read, err := from.Read(ctx)
		if err != nil {
			return err
		}
		took := time.Since(start)
		r.slow, r.longest = r.slow+took, max(r.longest, took)
		r.requests.Add(1)
		r.bytes.Add(read.Bytes)
		if read.Device >= 0 {
			r.device.Add(read.Device)
		} else {
			r.unknown.Store(true)
		}
		if read.Last {
			r.passes++
		}
		if err := throttle.Wait(ctx, read.Bytes); err != nil {
			return err
		}
	}
}
