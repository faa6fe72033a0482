package runs

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// observation is the sampling of one run, into its record.
type observation struct {
	sampler *sampling.Sampler
	machine *topology.Machine // whose drives are observed; nil: not known
	idle    []sampling.Row    // of the time before the run
	failed  error             // to begin a file
	start   time.Time         // of the first orders
	// times of I/Os since the last interval; nil: they are not traced
	ios   func() ([]measure.Distribution, error)
	close func() error // ends the file; nil: none was begun

	mu     sync.Mutex
	recent []sampling.Row // of the interval under way
}

// newObservation samples the machine and the databases, the record's own drive and what goes on
// beside the users.
func newObservation(o Options, log *slog.Logger, beside []sampling.Source) *observation {
	own := []sampling.Source{sampling.Record(o.Dir)}
	return &observation{
		sampler: sampling.NewSampler(log, slices.Concat(o.Observer.Sources, own, beside)...),
		machine: o.Observer.Machine,
	}
}

// samplePause samples for d while nothing goes on, and is false where stop ended it early.
func (o *observation) samplePause(stop context.Context, d time.Duration) bool {
	defer o.sampleBeside(stop, time.Now(), func(r sampling.Row) { o.idle = append(o.idle, r) })()
	return progress.Pause(stop, d)
}

// sampleBeside samples from start until end is called, or ctx ends.
func (o *observation) sampleBeside(
	ctx context.Context, start time.Time, take func(sampling.Row),
) (end func()) {
	return progress.Watch(ctx, 0, func(ctx context.Context) bool {
		o.sampler.Run(ctx, start, take)
		return false
	})
}

// flushRows is how many samples a crash may cost: those of as much time as it costs of the
// histograms.
const flushRows = int(result.IntervalLength / sampling.Interval)

// begin samples from start, when the first orders start, until end.
func (o *observation) begin(r Options, start time.Time) {
	o.start = start
	if trace := r.Observer.IOTrace; trace != nil {
		o.ios = trace.NewReader()
		if _, o.failed = o.ios(); o.failed != nil { // of the time before the run
			o.ios = nil
			return
		}
	}
	// The users are at work by now: what goes wrong here is told at the end.
	writer, err := result.CreateHost(r.Dir, o.sampler.Columns(), start)
	if err != nil {
		o.failed = err
		return
	}
	// Power at rest is taken from these.
	for _, row := range o.idle {
		writer.Write(&row)
	}
	o.idle = nil
	n := 0
	end := o.sampleBeside(context.Background(), start, func(row sampling.Row) {
		writer.Write(&row)
		o.keep(row)
		if n++; n%flushRows == 0 {
			err = errors.Join(err, writer.Flush())
		}
	})
	o.close = func() error {
		end()
		return errors.Join(err, writer.Close())
	}
}

// keep keeps a sample until the interval that it is of is judged.
func (o *observation) keep(row sampling.Row) {
	o.mu.Lock()
	defer o.mu.Unlock()
	// Not used without limits.
	o.recent = appendRecent(o.recent, row, flushRows+1)
}

// appendRecent appends a sample to those before it, of which the last most stay.
func appendRecent[T any](samples []T, next T, most int) []T {
	return append(samples[max(0, len(samples)+1-most):], next)
}

// drives are those of the machine from one moment of the run to another, by the samples after the
// first.
func (o *observation) drives(from, to time.Duration) sampling.Drives {
	o.mu.Lock()
	defer o.mu.Unlock()
	begin := o.start.Add(from)
	early := func(r sampling.Row) bool { return !r.Time.After(begin) }
	recent := sampling.Table{
		Columns: o.sampler.Columns(),
		Rows:    slices.DeleteFunc(slices.Clone(o.recent), early),
	}
	return sampling.Drives{Counters: recent, Machine: o.machine, From: begin, To: o.start.Add(to)}
}

// Newest is the last sample of machine and databases; without values before the first.
func (r *Run) Newest() (newest sampling.Row) {
	o := r.observation
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.recent); n > 0 {
		newest = o.recent[n-1]
	}
	return newest
}

// iopsOver is the time over which the IOPS of a run under way are shown.
const iopsOver = 10 * time.Second

// IOPS is the reads and writes a second of the drives of the data, over the last 10 s of the run;
// NaN where not counted.
func (r *Run) IOPS() float64 {
	o := r.observation
	newest := r.Newest().Time
	if newest.IsZero() {
		return math.NaN()
	}
	to := newest.Sub(o.start)
	return o.drives(max(0, to-iopsOver), to).IOPS()
}

// end ends what begin began, and tells what went wrong with it.
func (o *observation) end() error {
	if o.close == nil {
		return o.failed
	}
	return o.close()
}
