package runs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// ErrLimits ends a run whose limits failed for as long as Options.AbortAfter says.
var ErrLimits = errors.New("limits failed")

// limitJudge judges the limits while a run goes on: over each interval that lies in the run phase.
type limitJudge struct {
	run    result.Spec
	limits []limit.Limit // of the run

	samples []measure.Sample // since the last interval
	failing time.Duration    // how long limits have failed on end

	verdicts atomic.Pointer[result.Verdicts] // over the last interval
}

// judgeInterval judges the interval that is over, by the counters that were sampled in it so far.
// The error ends the run. What is known only after the run, such as what a meter's log holds, is
// left to the end.
func (j *limitJudge) judgeInterval(iv measure.Interval, o *observation) error {
	// Only the samples of this interval: a limit of the whole run is judged at its end.
	series := measure.Series{Samples: j.samples, Intervals: []measure.Interval{iv}}
	j.samples = nil
	n := len(series.Samples)
	if len(j.limits) == 0 || n == 0 || series.Samples[n-1].Phase != measure.PhaseRun {
		return nil
	}
	window, err := series.Window("limits", measure.Span{From: iv.From, To: iv.To})
	if err != nil {
		return err
	}
	// What a server answers later than in its second is not waited for.
	d := o.drives(iv.From, iv.To)
	of := limit.Source{
		Words: j.run.Words, Series: series, Counters: d.Counters, Start: d.From.Add(-iv.From),
		Machine: d.Machine,
	}
	figures, err := of.Figures(window)
	if err != nil {
		return err
	}
	unmeasured := func(v result.Verdict) bool { return v.Measured == nil }
	verdicts := slices.DeleteFunc(limit.Judge(j.limits, figures), unmeasured)
	j.verdicts.Store(&verdicts)
	if verdicts.Passed() {
		j.failing = 0
		return nil
	}
	most := j.run.AbortAfter.Duration // 0: it goes on, whatever the limits
	if j.failing += iv.To - iv.From; most > 0 && j.failing >= most {
		return fmt.Errorf("%w for %s on end: %s", ErrLimits, j.failing.Round(time.Second),
			verdicts.Which(result.Verdict.Fails))
	}
	return nil
}

// Verdicts are those of the limits over the last interval of the run phase; none before the first
// has ended.
func (r *Run) Verdicts() result.Verdicts {
	return *cmp.Or(r.judge.verdicts.Load(), new(result.Verdicts))
}
