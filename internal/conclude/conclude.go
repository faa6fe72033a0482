// Package conclude says what a run comes to, over any windows: the figure that counts, limits,
// power, the bottleneck, what a cycle cost and under which conditions; and what several runs come
// to together. Its functions are pure: they know what the record of a run holds and nothing else,
// no database, no clock, no context. So a report that asks for another window is answered as the
// run itself would have been, and all who show a figure show the same one. How figures are drawn is
// for package report.
package conclude

import (
	"errors"
	"fmt"
	"time"

	"ds2/internal/diagnose"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// Input is all that a conclusion is drawn from.
type Input struct {
	result.Spec
	result.Happened
	Series   measure.Series
	Counters sampling.Table // without rows where not observed
	Own      Concluder      // nil: the workload has nothing to add
}

// Concluder is a workload that adds what only it knows: another figure that counts, sections of the
// report, conditions. All but the verdicts is there when it is asked.
type Concluder interface {
	Conclude(in Input, c *result.Conclusion) error
}

// Of concludes a run over windows; over none over those that it was asked for, or its default one.
// The error says what could not be concluded, such as a window that the run did not reach; the rest
// is there.
func Of(in Input, windows []measure.WindowSpec) (c result.Conclusion, err error) {
	c.Phases = in.Series.Phases()
	reached := in.Series.Phase(measure.PhaseRun)
	// DS2's own figure, an average from the end of the warm-up on: it stands beside that of the
	// window so that published results can be compared.
	if reached.To > 0 {
		progress := in.Series.Progress()
		c.CumulativeOPM = &progress.Cumulative
		c.CumulativeOf = &progress.Since
	}
	if len(windows) == 0 && reached.To > 0 {
		windows, err = measure.ParseWindows(in.WindowTexts)
		if err == nil && len(windows) == 0 {
			windows = append(windows, in.Series.DefaultWindow())
		}
	}
	for _, spec := range windows {
		w, windowErr := in.Series.Compute(spec)
		if windowErr != nil {
			err = errors.Join(err, windowErr)
			if len(c.Windows) == 0 { // the first is the one that counts, and no other stands for it
				break
			}
			continue
		}
		c.Windows = append(c.Windows, w)
	}
	// What is said of the whole run hangs on no window: events, and times without an answer.
	outages := in.Series.Outages()
	c.Disturbances = listDisturbances(in)
	c.Shown = findOutages(in, outages)
	v := view{Input: in}
	var figure *result.Figure
	if len(c.Windows) > 0 {
		v = newView(in, &c.Windows[0])
		c.Slowest = v.findSlowest()
		figure = &result.Figure{Unit: in.Words.Rate, Value: v.window.OPM, CI95: v.window.CI95}
	}
	observed := len(in.Counters.Columns) > 0
	// Costs and conditions are made of counters. A run that nothing observed has none, which is not
	// the same as costs of 0.
	if c.Power = v.meanPower(); v.window != nil && observed {
		c.Costs = v.costsPerOrder(c.Power)
		c.Conditions = v.listConditions()
	}
	if v.window != nil && (observed || v.window.Errors > 0) {
		// While the server is away its drives and CPUs are idle. Means over that time too would
		// acquit whatever held the orders back in the rest of the window.
		judged := v
		judged.Counters = countersWhileAnswered(in, outages)
		evidence := judged.collectEvidence()
		c.Bottleneck = diagnose.Judge(evidence) // nil where the samples cover too little
		c.Shown = append(c.Shown, v.shown(evidence)...)
	}
	c.Headline = result.NewHeadline(figure)
	// A workload may put another figure in place of the rate, such as the I/Os of a mail store, so
	// what is made of the figure comes after it.
	if in.Own != nil {
		err = errors.Join(err, in.Own.Conclude(in, &c))
	}
	ended := in.Status != result.Done && in.Status != result.Running
	if ended && len(in.WindowTexts) == 0 && v.window != nil && v.window.Steady.Unjudged {
		c.Headline = result.Headline{} // a phase that was cut short is nothing to judge a run by
		c.Bottleneck = nil
	}
	if c.Figure != nil {
		c.Figure.PerWatt = c.Power.PerWatt(c.Figure.Value)
	}
	c.Conditions = append(c.Conditions, disturbanceConditions(c.Disturbances)...)
	// Limits are judged without a window, too: a run that ended early has not kept them.
	if len(in.LimitTexts) > 0 {
		var limitErr error
		c.Limits, limitErr = judgeLimits(in, v.window)
		err = errors.Join(err, limitErr)
	}
	return c, err
}

// judgeLimits are those of the limits over a window. A run without one has no samples, so its
// limits fail.
func judgeLimits(in Input, w *measure.Window) (result.Verdicts, error) {
	limits, err := limit.ParseAll(in.LimitTexts)
	if err != nil {
		return nil, fmt.Errorf("judge limits: %w", err)
	}
	var figures limit.Figures
	if w != nil {
		of := limit.Source{
			Words:    in.Words,
			Series:   in.Series,
			Counters: in.Counters,
			Start:    in.Start,
			Machine:  in.Machine,
		}
		if figures, err = of.WithIntervals(*w); err != nil {
			return nil, err
		}
	}
	return limit.Judge(limits, figures), nil
}

// view is what happened in the first window; where there is none, window is nil and no sample is of
// it.
type view struct {
	Input
	window   *measure.Window
	from, to time.Time
}

func newView(in Input, w *measure.Window) view {
	v := view{Input: in, window: w}
	v.from = in.At(w.From)
	v.to = in.At(w.To)
	return v
}

// findSlowest are the slowest orders of the window, the slowest first.
func (v view) findSlowest() (all []result.SlowOrder) {
	window := measure.Span{From: measure.Seconds(v.window.From), To: measure.Seconds(v.window.To)}
	for _, o := range v.Series.Slowest(window) {
		all = append(all, result.SlowOrder{
			From: o.From.Seconds(), To: o.To.Seconds(), Operation: o.Operation,
			OperationFrom: o.OperationFrom.Seconds(), OperationTo: o.OperationTo.Seconds(),
		})
	}
	return all
}
