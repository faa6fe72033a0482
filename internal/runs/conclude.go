package runs

import (
	"errors"
	"slices"
	"time"

	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/workload"
)

// conclude notes what happened in the run, draws from one reading of the record's files what it
// comes to, and saves it. A run that did not come to its end may lack windows, which is not what is
// wrong with it.
func (r *Run) conclude(outcome Outcome) Outcome {
	s := &r.summary
	s.End = endSince(s.Start)
	s.Scrub = r.scrubs.Results()
	s.Space = space(r.places)
	if teller, ok := r.play.(workload.Teller); ok {
		s.Found = teller.Found()
	}
	series, readErr := r.writer.Series()
	s.Status = outcome.Status
	// What the record does not show, with what was not so all the time.
	changes, noticed := r.surroundings.findChanges(r.options.Databases)
	r.pace.findUnsettled(&noticed)
	r.warm.findCold(&noticed)
	s.Changes = changes
	// What several targets of a server say is one finding.
	s.Noticed = result.Together(append(noticed, r.ioFaults...))
	var counters sampling.Table
	var observedErr error
	if r.observation.close != nil {
		observed(s, r.options.Observer)
		counters, observedErr = result.ReadHost(r.options.Dir, s.Start, false)
		if observedErr == nil {
			observedErr = fill(r.options, &counters, s)
		}
	}
	// The conclusion is drawn from these too, so they come first.
	result.AddCheckpoints(s, &series, &counters)
	s.Warm = r.warm.describeWait(series, r.options.WarmupTime.Duration)
	r.count()
	concludeErr := draw(r.options, s, series, counters)
	if len(s.Sections) > 0 {
		s.Log = result.ReadLog(r.options.Dir)
	}
	// Why a run was ended is what its user is told, and not that its figures are incomplete.
	if outcome.Status == result.Done {
		outcome = outcome.withErrors(result.OfRecord("conclude the run", readErr), concludeErr)
	}
	outcome = outcome.withErrors(result.OfRecord("conclude the run", observedErr))
	s.Status = outcome.Status
	if outcome.Err != nil && s.Status != result.Interrupted {
		s.Error = outcome.Err.Error()
	}
	return outcome.withErrors(save(r.options.Dir, s))
}

// endSince is when a run ends that began at start, by the clock that only goes on: a time of day
// that is put back during the run would end it before its start, and nothing could read its record.
func endSince(start time.Time) time.Time { return start.Add(max(0, time.Since(start))) }

// draw draws the conclusion of a run from what it was to be, what happened and what was sampled.
func draw(
	o Options,
	s *result.Summary,
	series measure.Series,
	counters sampling.Table,
) (err error) {
	in := conclude.Input{Spec: s.Spec, Happened: s.Happened, Series: series, Counters: counters}
	in.Own, _ = o.Plan.Workload().(conclude.Concluder)
	s.Conclusion, err = conclude.Of(in, nil)
	return err
}

// save writes the summary of a run with what is found of it by now.
func save(dir string, s *result.Summary) error {
	conclude.Find(s)
	return result.SaveSummary(dir, *s)
}

// count takes what the meter counted over the whole run.
func (r *Run) count() {
	s := &r.summary
	// Totals are of all phases, ramp and drain too, as the tables' rows are that the audit counts.
	for _, t := range r.Meter().Totals() {
		s.Counts.Add(t.Counts)
		latency := map[string]measure.Latency{}
		for _, d := range t.Durations {
			if d.Count() > 0 {
				latency[d.Name] = d.Latency()
			}
		}
		s.ByTarget = append(s.ByTarget, result.Target{
			Target:  t.Target,
			OPM:     t.Rates.Cumulative,
			OPMOf:   &t.Rates.Since,
			Counts:  t.Counts,
			Latency: latency,
		})
		for f, n := range t.Errors {
			s.Errors = measure.AddFailures(s.Errors, f.Count(n, r.driver.Example(f)))
		}
		for f, n := range t.Retries {
			s.Retries = measure.AddFailures(s.Retries, f.Count(n, ""))
		}
	}
}

// fill adds a meter's log to the samples of machine and databases, and a caution of what it lacks.
// It can be done again when the log has arrived later.
func fill(o Options, counters *sampling.Table, s *result.Summary) error {
	filled, lacks := o.Observer.Fill(counters, s.Start, s.End)
	if lacks != "" {
		caution := result.NewFinding(result.Distorted, lacks)
		s.Cautions = append(slices.Clip(s.Cautions), caution)
	}
	if !filled {
		return nil
	}
	return result.SaveHost(o.Dir, counters, s.Start)
}

// observed takes into a summary what an observer knows of the machine and the servers.
func observed(s *result.Summary, o *monitor.Observer) {
	s.Machine = o.Machine
	s.Local = o.Local
	s.Servers = o.Servers
	s.Cautions = nil
	for _, f := range o.Found {
		s.Cautions = append(s.Cautions, result.Observed(f))
	}
}

// Setup is what a run with these options is to be, and what it will be measured on.
func (o Options) Setup() result.Setup {
	s := result.Summary{Spec: o.Asked()}
	observed(&s, o.Observer)
	return result.Setup{Spec: s.Spec, Environment: result.EnvironmentOf(s)}
}

// Complete concludes the record in o.Dir again with what has become known since its run, such as a
// meter's log.
func Complete(o Options) (result.Summary, error) {
	record, err := result.Read(o.Dir)
	if err != nil {
		return result.Summary{}, err
	}
	s := record.Summary
	observed(&s, o.Observer)
	err = fill(o, &record.Host, &s)
	if o.Device != nil {
		s.Device = o.Device
	}
	concludeErr := draw(o, &s, record.Series, record.Host)
	if s.Status != result.Done { // it may have ended before its later windows
		concludeErr = nil
	}
	saveErr := save(o.Dir, &s)
	return s, errors.Join(err, concludeErr, saveErr)
}
