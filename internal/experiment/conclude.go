package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ds2/internal/diagnose"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/workload"
)

// conclude computes from one reading of the record's files what the summary says of the run, and saves it. A run
// that did not come to its end may lack windows, which is not what is wrong with it.
func (r *Run) conclude(ctx context.Context, outcome Outcome) Outcome {
	s := &r.summary
	s.End = time.Now()
	s.Warnings = r.Warnings()
	if warning := r.pace.warning(); warning != "" {
		s.Warnings = append(s.Warnings, warning)
	}
	if warning := r.warm.warning(); warning != "" {
		s.Warnings = append(s.Warnings, warning)
	}
	s.Warnings = append(s.Warnings, cloneWarnings(*s)...)
	s.Scrub, s.Copies = r.background.Results()
	s.Warnings = append(s.Warnings, backgroundWarnings(*s)...)
	series, readErr := result.ReadSeries(r.options.Dir)
	counters, observedErr := monitor.Table{}, error(nil)
	if r.observation != nil && r.observation.recorded {
		counters, observedErr = result.ReadHost(r.options.Dir, s.Start)
	}
	result.AddCheckpoints(s, &series, &counters)
	s.Warm = r.warm.told(series, r.options.Driver.Warmup)
	figuresErr := r.figures(series)
	if outcome.Status == result.Done {
		outcome = outcome.with(readErr, figuresErr)
	}
	s.Status = outcome.Status
	if outcome.Err != nil && s.Status != result.Interrupted {
		s.Error = outcome.Err.Error()
	}
	var judgeErr error
	if r.observation != nil && r.observation.recorded && observedErr == nil {
		observedErr = addObserved(ctx, r.options, &counters, s)
	}
	ownErr := addOwn(r.options, series, counters, s)
	if len(s.Sections) > 0 {
		s.Log = result.ReadLog(r.options.Dir)
	}
	if len(r.options.Limits) > 0 && outcome.counts() {
		s.Limits, judgeErr = judge(r.options.Limits, series, counters, *s)
	}
	return outcome.with(observedErr, ownErr, judgeErr, result.SaveSummary(r.options.Dir, *s))
}

// figures computes what the series and the meter say.
func (r *Run) figures(series measure.Series) error {
	s := &r.summary
	s.Phases = series.Phases()
	s.Windows, s.OPM, s.CumulativeOPM, s.CumulativeOf = nil, nil, nil, nil
	if progress := series.Progress(); series.Phase(measure.PhaseRun).To > 0 {
		s.CumulativeOPM, s.CumulativeOf = &progress.Cumulative, &progress.Since
	}
	var errs error
	for _, spec := range windows(r.options.Windows, series) {
		w, err := series.Compute(spec)
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		s.Windows = append(s.Windows, w)
	}
	if len(s.Windows) > 0 {
		s.OPM = &s.Windows[0].OPM
	}
	s.ByTarget, s.Counts = nil, measure.Counts{}
	for _, t := range r.Meter().Totals() {
		s.Counts.Add(t.Counts)
		latency := map[string]measure.Latency{}
		for _, d := range t.Durations {
			if d.Count() > 0 {
				latency[d.Name] = d.Latency()
			}
		}
		s.ByTarget = append(s.ByTarget, result.Target{Target: t.Target, OPM: t.Rates.Cumulative, OPMOf: &t.Rates.Since, Counts: t.Counts, Latency: latency})
		s.Errors = measure.AddFailures(s.Errors, measure.FailureCounts(t.Errors)...)
		s.Retries = measure.AddFailures(s.Retries, measure.FailureCounts(t.Retries)...)
	}
	return errs
}

// windows are those asked for, or the run phase, where it came to that. A run that ended early has none of the windows
// that lie beyond its end.
func windows(asked []measure.WindowSpec, series measure.Series) []measure.WindowSpec {
	run := series.Phase(measure.PhaseRun)
	if run.To == 0 {
		return nil
	}
	if len(asked) == 0 {
		return []measure.WindowSpec{{Name: "run", Span: run}}
	}
	return asked
}

// addObserved adds to a summary what the samples of machine and databases say, with those that others took in the time of
// the run: power, bottleneck and warnings. It can be done again when a meter's log has arrived later.
func addObserved(ctx context.Context, o Options, counters *monitor.Table, s *result.Summary) error {
	filled, err := o.Observer.Fill(ctx, counters)
	if filled {
		err = errors.Join(err, result.SaveHost(o.Dir, counters, s.Start))
	}
	s.Machine, s.Servers = o.Observer.Machine, o.Observer.Servers
	s.Power, s.Bottleneck = powerOf(*counters, *s), nil
	s.Costs, s.Conditions = nil, nil
	if len(s.Windows) == 0 {
		return err
	}
	s.Costs, s.Conditions = costsOf(*counters, *s, o.Observer.Local), append(conditionsOf(*counters, *s), deviceLimits(o.Device)...)
	if b := diagnose.Judge(figuresOf(*counters, *s, o.Observer.Local, o.Device)); b != nil {
		s.Bottleneck = &result.Bottleneck{Bottleneck: *b, Warnings: warnings(o.Observer, b.Figures)}
	}
	return err
}

// warnings are what makes a run a poor test of storage, after it was made.
func warnings(o *monitor.Observer, f diagnose.Figures) (all []string) {
	if !f.ReadFromDrives() {
		all = append(all, o.Reads...)
	}
	all = append(all, o.Warnings...)
	if others := f.Disturbance(); others != "" {
		all = append(all, others)
	}
	return all
}

// addOwn adds to a summary what only the workload knows, and what had been put off beside its figure.
func addOwn(o Options, series measure.Series, counters monitor.Table, s *result.Summary) (err error) {
	if c, ok := o.Plan.(workload.Concluder); ok {
		err = c.Conclude(s, series, counters)
	}
	addDebt(counters, s)
	s.Conditions = append(s.Conditions, debtConditions(*s)...)
	return err
}

// complete adds to the record in o.Dir what has become known since its run, such as a meter's log.
func complete(ctx context.Context, o Options) (result.Summary, error) {
	record, err := result.Read(o.Dir)
	if err != nil {
		return result.Summary{}, err
	}
	s := record.Summary
	err = errors.Join(addObserved(ctx, o, &record.Host, &s), addOwn(o, record.Series, record.Host, &s))
	return s, errors.Join(err, result.SaveSummary(o.Dir, s))
}

// judge judges limits over the first window of a run. A run without a window has no samples, so its limits fail.
func judge(limits []limit.Limit, series measure.Series, counters monitor.Table, s result.Summary) ([]limit.Verdict, error) {
	figures := limit.Figures(func(limit.Metric) (float64, bool, bool) { return 0, false, false })
	if len(s.Windows) > 0 {
		var err error
		if figures, err = limit.Of(s.Words.Or().Cycle, series, s.Windows[0], counters, s.Start, s.Machine); err != nil {
			return nil, fmt.Errorf("judge limits: %w", err)
		}
	}
	return limit.Judge(limits, figures), nil
}
