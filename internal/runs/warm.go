package runs

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/store"
)

// When a store is warm, as Jetstress has it (mailbox/WORKLOAD.md sections 1 and 5).
const (
	warmBuffers = 0.9 // share of the server's cache that is in use
	warmSamples = 30  // of a second, over which
	// seconds a sample is the most by which the mean latency of data reads may change
	warmSlope = 0.0005
	warmEvery = 2 * time.Second
	// samples of the warmSamples that have reads: with fewer, there is no latency that could change
	leastReads = 10

	// warmChange is the share by which orders a minute, and reads per order, may differ between the
	// halves of the warmSamples at most.
	warmChange = 0.05
)

// BufferCounter is an engine that says how much of the server's own cache is in use.
type BufferCounter interface {
	Buffers(ctx context.Context) (store.Buffers, error)
}

// warm watches whether the store is in the state in which a run is to begin: most of its cache in
// use, a checkpoint made, and the latency of reads, the orders a minute and the reads per order
// level. A cache that fills has ever fewer reads per order.
type warm struct {
	most       time.Duration
	checkpoint bool // was made before the first operations, or since

	undecided context.Context // ends when the run proper begins: what shows later is no reason
	decide    context.CancelFunc

	mu     sync.Mutex
	orders []int64 // of the last warmSamples seconds
	record result.Warm
}

// newWarm watches while ctx lasts, for most after the warm-up; nil where that is no time.
func newWarm(ctx context.Context, most time.Duration, checkpoint bool) *warm {
	if most == 0 {
		return nil
	}
	w := &warm{most: most, checkpoint: checkpoint}
	w.undecided, w.decide = context.WithCancel(ctx)
	return w
}

// sample ends the watching with the warm-up.
func (w *warm) sample(s measure.Sample) {
	if w == nil {
		return
	}
	if s.Phase == measure.PhaseRun || s.Phase == measure.PhaseDrain {
		w.decide()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.orders = appendRecent(w.orders, s.Counts.Orders, warmSamples)
}

// watch looks until all holds, or the warm-up is over. Looking costs the server work, which is to
// fall on no window.
func (w *warm) watch(o *observation, targets []store.Database) {
	for {
		now := w.look(o, targets)
		if w.undecided.Err() != nil {
			return
		}
		w.mu.Lock()
		w.record = now
		w.mu.Unlock()
		if now.Reached || !progress.Pause(w.undecided, warmEvery) {
			return
		}
	}
}

func (w *warm) look(o *observation, targets []store.Database) result.Warm {
	now := result.Warm{Most: w.most.Seconds(), Checkpoint: w.checkpoint}
	filled := true
	for _, target := range targets {
		engine, ok := target.(BufferCounter)
		if !ok {
			continue
		}
		b, err := engine.Buffers(w.undecided)
		if err != nil {
			filled = false
			continue
		}
		// Of several servers the coldest decides.
		if now.Buffers == nil || b.Share < *now.Buffers {
			now.Buffers = &b.Share
			now.Estimated = b.Estimated
		}
		// A database that fits may never fill the cache: waiting for 90 % would last for ever.
		now.Fits = now.Fits || b.Fits
		filled = filled && (b.Fits || b.Share >= warmBuffers)
	}
	d := o.drives(0, 0)
	rows := &d.Counters
	if n := len(rows.Rows); n > 0 {
		d.To = rows.Rows[n-1].Time
		rows.Rows = rows.Rows[max(0, n-warmSamples):]
		now.Samples = len(rows.Rows)
		now.At = d.To.Sub(d.From).Seconds()
		w.checkpoints(&now, *rows)
		// Read latency falls while a cache fills; where it is level, so will that of the run be.
		if slope, reads := measure.Slope(d.ReadLatencies()); reads >= leastReads {
			now.Slope = &slope
		}
	}
	w.changes(&now, *rows)
	// What is not measured, as reads on a server far away, is not waited for.
	level := now.Samples >= warmSamples && levelled(now.Slope, warmSlope) &&
		levelled(now.Orders, warmChange) && levelled(now.ReadsAnOrder, warmChange)
	if now.Reached = filled && level && (now.Checkpoint || now.Uncounted); !now.Reached {
		// Records have the time only where the state was reached.
		now.At = 0
	}
	return now
}

// changes notes by how much the later half of the samples differs from the earlier: of the orders,
// and of the drives' reads per order.
func (w *warm) changes(now *result.Warm, rows sampling.Table) {
	w.mu.Lock()
	orders := slices.Clone(w.orders)
	w.mu.Unlock()
	if len(orders) < warmSamples {
		return
	}
	var done, read [2]float64 // orders and reads, of the earlier half and of the later
	for i, n := range orders {
		done[2*i/len(orders)] += float64(n)
	}
	now.Orders = change(done[0], done[1])
	for _, item := range rows.Items(sampling.DiskReads) {
		for i, v := range rows.Values(item) {
			if !math.IsNaN(v) {
				read[2*i/len(rows.Rows)] += v
			}
		}
	}
	now.ReadsAnOrder = change(read[0]/done[0], read[1]/done[1])
}

// change is the share by which a figure changed; nil where it was nothing before, or is not known.
func change(before, after float64) *float64 {
	return measure.Known(after/before - 1) // 0/0 is NaN and n/0 infinite
}

// levelled says whether a figure changes by less than most, as far as it is known.
func levelled(change *float64, most float64) bool {
	return change == nil || math.Abs(*change) < most
}

// checkpoints notes whether one was made. A server that does not count them, as SQL Server, may
// make none for as long as one waits: its background writer writes changed pages all the time.
func (w *warm) checkpoints(now *result.Warm, rows sampling.Table) {
	counts := rows.Items(sampling.DatabaseCheckpoints)
	w.checkpoint = w.checkpoint || slices.ContainsFunc(counts, func(column string) bool {
		return slices.ContainsFunc(rows.Values(column), func(v float64) bool { return v > 0 })
	})
	now.Checkpoint = w.checkpoint
	now.Uncounted = len(counts) == 0
}

func (w *warm) state() result.Warm {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.record
}

// nameWait says what is waited for; empty: nothing.
func (w *warm) nameWait() string {
	if w == nil {
		return ""
	}
	s := w.state()
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if s.Buffers != nil && !s.Fits && *s.Buffers < warmBuffers {
		add("%.0f %% of the buffers are in use, of %.0f", 100**s.Buffers, 100*warmBuffers)
		if s.Estimated != "" {
			add("estimated by the pages that the server has read: %s", s.Estimated)
		}
	}
	if !s.Checkpoint && !s.Uncounted {
		add("no checkpoint was made yet")
	}
	switch {
	case s.Samples < warmSamples:
		add("%d of %d samples of the read latency are taken", s.Samples, warmSamples)
	case !levelled(s.Slope, warmSlope):
		add("the read latency changes by %.2g ms a sample", 1000**s.Slope)
	}
	if !levelled(s.Orders, warmChange) {
		add("the rate changed by %+.0f %% in %d s", 100**s.Orders, warmSamples/2)
	}
	if !levelled(s.ReadsAnOrder, warmChange) {
		add("reads relative to the rate changed by %+.0f %%", 100**s.ReadsAnOrder)
	}
	return strings.Join(all, ", ")
}

// describeWait is what the record says of the wait; nil where there was none.
func (w *warm) describeWait(series measure.Series, warmup time.Duration) *result.Warm {
	if w == nil {
		return nil
	}
	s := w.state()
	if phase := series.Phase(measure.PhaseWarmup); phase.To > 0 {
		s.Waited = max(0, (phase.To - phase.From - warmup).Seconds())
	}
	return &s
}

// findCold finds where the run began though the store was not warm.
func (w *warm) findCold(all *noticed) {
	if w != nil && !w.state().Reached {
		all.note(result.NotWarm,
			"measuring began before the database was warm, %s after the warm-up: %s; "+
				"take a longer --warmup-time or --warm-within",
			w.most, w.nameWait())
	}
}

// Warming says what is waited for before the run proper; empty where it has begun, or nothing is
// waited for.
func (r *Run) Warming() string {
	if r.Meter().Phase() != measure.PhaseWarmup {
		return ""
	}
	all := []string{r.pace.nameWait(), r.warm.nameWait()}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), ", ")
}
