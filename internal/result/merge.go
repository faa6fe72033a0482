package result

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"ds2/internal/measure"
	"ds2/internal/sampling"
)

// maxApart is how far the first orders of the machines of one run may lie apart: samples are added
// up by whole seconds.
const maxApart = time.Second

// Merge adds up the records of one run that several driver machines made: same run id, same targets
// and dataset, started together by --start-at. Counts and histograms are added exactly; the samples
// are those of whole seconds, in which the 95th percentile is the highest of the machines', because
// percentiles do not add up. The merged run is in its run phase while all machines are. The
// counters are those of the machine that saw most; what ds2 took is added up. What it comes to is
// for package conclude.
func Merge(records []*Record) (*Record, error) {
	first := records[0]
	for i, a := range records {
		for _, b := range records[i+1:] {
			if err := mergeable(a, b); err != nil {
				return nil, fmt.Errorf("merge records %s and %s: %w", a.Dir, b.Dir, err)
			}
		}
	}
	m := &Record{Dir: first.Dir, Summary: first.Summary}
	s := &m.Summary
	s.Sums = nil
	s.Findings = nil
	s.Conclusion = Conclusion{}
	s.Happened = Happened{
		Start:       first.Start,
		Checkpoints: first.Checkpoints,
		Found:       first.Found,
		Events:      first.Events,
		Warm:        first.Warm,
		Pace:        first.Pace,
		ByTarget:    []Target{},
	}
	s.Status = Done
	s.Threads = 0
	s.Rate = 0
	s.LimitTexts = nil
	seen := first // the one that saw most: all see the same servers, and one may see more of them
	for _, r := range records {
		s.Threads += r.Threads
		s.Rate += r.Rate
		s.Counts.Add(r.Counts)
		s.Errors = measure.AddFailures(s.Errors, r.Errors...)
		s.Retries = measure.AddFailures(s.Retries, r.Retries...)
		for i, t := range r.ByTarget {
			if i == len(s.ByTarget) {
				s.ByTarget = append(s.ByTarget, Target{Target: t.Target})
			}
			// Not the percentiles: they do not add up. Nor what OPM is of: the machines' seconds
			// differ.
			s.ByTarget[i].OPM += t.OPM
			s.ByTarget[i].Counts.Add(t.Counts)
		}
		s.Scrub = append(s.Scrub, r.Scrub...)
		s.LimitTexts = AddNew(s.LimitTexts, r.LimitTexts...)
		s.Changes = AddNew(s.Changes, r.Changes...) // all machines see the same servers
		s.Noticed = append(s.Noticed, r.Noticed...)
		if lost := notMerged(r, first); len(lost) > 0 {
			text := fmt.Sprintf("%s: not merged: %s", r.Dir, strings.Join(lost, ", "))
			s.Noticed = append(s.Noticed, NewFinding(NotMerged, text))
		}
		if r.End.After(s.End) {
			s.End = r.End
		}
		s.Device = cmp.Or(s.Device, r.Device)
		if len(r.Host.Columns) > len(seen.Host.Columns) {
			seen = r
		}
		if s.Status == Done || r.Status == Running {
			s.Status = r.Status
			s.Error = r.Error
		}
		s.Before = mergeMarks(s.Before, r.Before, -1)
		s.After = mergeMarks(s.After, r.After, +1)
	}
	if slices.ContainsFunc(records, func(r *Record) bool { return len(r.After) == 0 }) {
		s.After = nil
	}
	m.Host = seen.Host
	s.Machine = seen.Machine
	s.Servers = seen.Servers
	s.Local = seen.Local
	s.Cautions = seen.Cautions
	s.SMART = seen.SMART
	// else what the database shares with the ds2 beside it is taken from these figures
	if !s.Local {
		m.Host = mergeClients(seen, records)
	}
	m.Series = mergeSeries(records)
	m.Series.Cycles = first.Series.Cycles
	m.Series.NoCycles = first.Series.NoCycles
	return m, nil
}

// notMerged is what a merged record lacks of one of those that it is of.
func notMerged(r, first *Record) (all []string) {
	lost := map[string]bool{
		"audit":                 r.Audit != nil,
		"deep checks":           len(r.DeepChecks) > 0,
		"log":                   len(r.Log) > 0,
		"events":                r != first && len(r.Events) > 0,
		"wait for a warm store": r != first && r.Warm != nil,
		"search for the rate":   r != first && r.Pace != nil,
	}
	maps.DeleteFunc(lost, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(lost))
}

// mergeClients puts into the counters of one machine what the others took, too: the CPUs of their
// ds2 together, and how busy the busiest was.
func mergeClients(one *Record, records []*Record) sampling.Table {
	merged := sampling.Table{Columns: one.Host.Columns}
	for _, row := range one.Host.Rows {
		row.Values = slices.Clone(row.Values)
		merged.Rows = append(merged.Rows, row)
	}
	// machines begin at whole seconds
	nearest := func(r sampling.Row) int64 { return r.Time.Round(time.Second).Unix() }
	for _, r := range records {
		for at, name := range merged.Columns {
			add, ofClient := ofClients[name]
			if r == one || !ofClient {
				continue
			}
			bySecond := map[int64]float64{}
			for n, v := range r.Host.Values(name) {
				bySecond[nearest(r.Host.Rows[n])] = v
			}
			for _, row := range merged.Rows {
				v, seen := bySecond[nearest(row)]
				if !seen {
					v = math.NaN()
				}
				row.Values[at] = add(row.Values[at], v)
			}
		}
	}
	return merged
}

// ofClients has for each counter of a driver machine what those of two come to.
var ofClients = map[string]func(a, b float64) float64{
	sampling.ClientOwn:       func(a, b float64) float64 { return a + b },
	sampling.ClientBusy:      busier,
	sampling.ClientUsed:      busier,
	sampling.ClientThrottled: busier,
}

// busier is the higher of two figures, or the one that is known.
func busier(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// mergeable says why two records are not of one run.
func mergeable(a, b *Record) error {
	apart := b.Start.Sub(a.Start).Abs()
	below := a // the one with the first users
	if b.UserOffset < a.UserOffset {
		below = b
	}
	// A user draws its work by the seed and its own number: two of one number would do the same for
	// the same customers at the same time, and wait for each other's rows.
	between := max(a.UserOffset, b.UserOffset) - below.UserOffset
	// What each user does; rates add up, and one machine alone may scan or make a checkpoint.
	alike := func(s Spec) []any {
		return []any{s.RunTime, s.WarmupTime, s.ThinkTime, s.Spacing, s.InWords}
	}
	switch {
	case a.RunID != b.RunID:
		return fmt.Errorf(
			"they are of runs %q and %q; give all machines of a run the same --run-id",
			a.RunID, b.RunID)
	case a.Engine != b.Engine || a.Size != b.Size || !slices.Equal(a.Targets, b.Targets):
		return errors.New("they are of other targets or datasets")
	case a.Seed == b.Seed && between < max(1, below.Threads):
		return errors.New("some of their users drew the same work; " +
			"give each machine a --user-offset of all users before")
	case !reflect.DeepEqual(alike(a.Spec), alike(b.Spec)):
		return errors.New("they were not run by the same parameters")
	case apart > maxApart && a.Status != Running && b.Status != Running:
		// else their starts are those of ds2
		return fmt.Errorf("they started %s apart; start all machines of a run by --start-at",
			apart.Round(time.Millisecond))
	}
	return nil
}

// mergeMarks has of each target's marks the lowest, or of a positive sign the highest. The machines
// read them at different times: what any of them added lies above the lowest from before the run
// and not above the highest from after it.
func mergeMarks(some, more []Marks, sign int64) []Marks {
	for i, marks := range more {
		if i == len(some) {
			some = append(some, Marks{})
		}
		for name, n := range marks {
			if other, there := some[i][name]; !there || sign*(n-other) > 0 {
				some[i][name] = n
			}
		}
	}
	return some
}

// mergeSeries adds up samples second by second, and puts the intervals of all machines together:
// whoever asks for a window merges the histograms of those in it, exactly, from whichever machine.
func mergeSeries(records []*Record) measure.Series {
	var merged measure.Series
	for _, r := range records {
		for second, s := range wholeSeconds(r.Series.Samples) {
			if second == len(merged.Samples) {
				end := time.Duration(second+1) * time.Second
				merged.Samples = append(merged.Samples,
					measure.Sample{End: end, Length: time.Second})
			}
			sum := &merged.Samples[second]
			sum.Add(s)
			sum.Phase = together(sum.Phase, s.Phase)
			sum.Users += s.Users
			sum.HeldUp += s.HeldUp
		}
		merged.Intervals = append(merged.Intervals, r.Series.Intervals...)
		merged.Slow = append(merged.Slow, r.Series.Slow...)
	}
	slices.SortStableFunc(merged.Intervals, func(a, b measure.Interval) int {
		return cmp.Compare(a.From, b.From)
	})
	return merged
}

// wholeSeconds puts samples together by the second in which they closed, a little late or not. What
// drains begins a separate second: its orders belong to none that is measured. A second in which
// none closed, because one closed very late, is of the phase before it.
func wholeSeconds(samples []measure.Sample) (seconds []measure.Sample) {
	const late = 100 * time.Millisecond
	measured := 0 // seconds before the drain
	for _, s := range samples {
		second := int((s.End - late) / time.Second)
		if s.Phase == measure.PhaseDrain {
			second = max(second, measured)
		} else {
			measured = second + 1
		}
		for n := len(seconds); n <= second; n++ {
			var none measure.Sample
			if n > 0 && n < second {
				last := seconds[n-1]
				none = measure.Sample{Phase: last.Phase, Users: last.Users, HeldUp: last.HeldUp}
			}
			seconds = append(seconds, none)
		}
		sum := &seconds[second]
		sum.Add(s)
		sum.Phase = together(sum.Phase, s.Phase)
		// at its end
		sum.Users = s.Users
		sum.HeldUp = s.HeldUp
	}
	return seconds
}

// together is the phase of a run of which one machine is in phase a and another in b: that of the
// one behind, and the drain as soon as one drains.
func together(a, b measure.Phase) measure.Phase {
	switch {
	case a == "" || b == "":
		return cmp.Or(a, b)
	case a == measure.PhaseDrain || b == measure.PhaseDrain:
		return measure.PhaseDrain
	case slices.Index(measure.Phases, a) < slices.Index(measure.Phases, b):
		return a
	}
	return b
}
