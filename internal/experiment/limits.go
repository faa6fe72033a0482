package experiment

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// ErrLimits ends a run whose limits failed for as long as Options.AbortAfter says.
var ErrLimits = errors.New("limits failed")

// watch judges the limits while a run goes on: over each interval that lies in the run phase.
type watch struct {
	limits     []limit.Limit
	machine    *monitor.Machine // whose drives the limits are on; nil: not known
	abortAfter time.Duration    // 0: never

	samples []measure.Sample // since the last interval
	failing time.Duration    // how long limits have failed on end

	mu       sync.Mutex
	verdicts []limit.Verdict // over the last interval
}

// interval is how long intervals are: short enough for a failure to be seen in time.
func (o Options) interval() time.Duration {
	if o.AbortAfter > 0 {
		return min(result.IntervalLength, o.AbortAfter)
	}
	return result.IntervalLength
}

// sample takes a sample of the interval under way.
func (w *watch) sample(s measure.Sample) {
	if len(w.limits) > 0 {
		w.samples = append(w.samples, s)
	}
}

// over judges the interval that is over, whose first orders started at start; counters are those sampled in it so far.
// The error ends the run. What is known only after the run, such as the counters that Prometheus holds, is left to the end.
func (w *watch) over(iv measure.Interval, counters monitor.Table, start time.Time) error {
	series := measure.Series{Samples: w.samples, Intervals: []measure.Interval{iv}}
	w.samples = nil
	if n := len(series.Samples); n == 0 || series.Samples[n-1].Phase != measure.PhaseRun {
		return nil
	}
	window, err := series.Window("limits", measure.Span{From: iv.From, To: iv.To})
	if err != nil {
		return err
	}
	figures, err := limit.Of(series, window, counters, start, w.machine)
	if err != nil {
		return err
	}
	verdicts := slices.DeleteFunc(limit.Judge(w.limits, figures), func(v limit.Verdict) bool { return v.Measured == nil })
	w.mu.Lock()
	w.verdicts = verdicts
	w.mu.Unlock()
	if limit.Passed(verdicts) {
		w.failing = 0
		return nil
	}
	if w.failing += iv.To - iv.From; w.abortAfter > 0 && w.failing >= w.abortAfter {
		return fmt.Errorf("%w for %s on end: %s", ErrLimits, w.failing.Round(time.Second), limit.Failed(verdicts))
	}
	return nil
}

// Verdicts are those of the limits over the last interval of the run phase; none before the first has ended.
func (r *Run) Verdicts() []limit.Verdict {
	r.watch.mu.Lock()
	defer r.watch.mu.Unlock()
	return r.watch.verdicts
}
