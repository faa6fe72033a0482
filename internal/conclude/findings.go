package conclude

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// Find makes the findings of a run, from all that its record holds by now: an audit that came
// later is among them.
func Find(s *result.Summary) {
	f := findings{Summary: *s}
	f.findEnd()
	f.findVerification()
	f.all = append(f.all, FindLimits(s.Limits)...)
	if len(s.Windows) > 0 {
		f.findWindow(s.Windows[0])
		f.findStatement()
	}
	f.findAttempts()
	f.findChanges()
	f.findScans()
	for i, event := range s.Events {
		if event.Error != "" {
			f.add(result.NewFinding(result.EventFailed, event.Error).With("event", float64(i+1)))
		}
	}
	for _, d := range s.SMART {
		if d.Throttled != "" {
			f.add(result.NewFinding(result.DriveThrottled, d.Throttled).About(d.Drive))
		}
	}
	if s.Proof != "" {
		f.find(result.EngineUnproven, "engine "+s.Engine+" is "+s.Proof)
	}
	if c := s.Cluster; c != nil && c.Node != "" && c.Node == c.DriverNode {
		f.find(result.SameNode, c.Node)
	}
	s.Findings = result.Together(slices.Concat(f.all, s.Shown, s.Noticed))
}

// findings are those of a run.
type findings struct {
	result.Summary
	all []result.Finding
}

func (f *findings) add(one result.Finding) { f.all = append(f.all, one) }

func (f *findings) find(kind result.FindingKind, detail string) {
	f.add(result.NewFinding(kind, detail))
}

// ends are the kinds of what a run ended by, where not in good order.
var ends = map[result.Status]result.FindingKind{
	result.Failed:      result.RunFailed,
	result.Interrupted: result.RunInterrupted,
	result.Aborted:     result.RunAborted,
	result.Running:     result.RunUnfinished,
}

func (f *findings) findEnd() {
	if kind, is := ends[f.Status]; is {
		f.find(kind, f.Error)
	}
	if len(f.Windows) == 0 {
		f.find(result.NoWindow, "")
	}
}

func (f *findings) findVerification() {
	// A deep check has read every page of a server: what it found weighs more than any rate.
	damages := 0
	bytes := int64(0)
	for _, c := range f.DeepChecks {
		damages += len(c.Damage)
		bytes += c.Bytes
	}
	switch {
	case damages > 0:
		f.add(result.NewFinding(result.Damaged, "").With("errors", float64(damages)))
	case len(f.DeepChecks) > 0:
		f.add(result.NewFinding(result.Undamaged, "").With("megabytes", float64(bytes/1e6)))
	}
	a := f.Audit
	switch {
	case a == nil:
		f.find(result.NotAudited, "")
		return
	case a.NotAudited != "":
		f.find(result.AuditNotMade, a.NotAudited)
		return
	}
	kind := result.AuditPassed
	if !a.Passed {
		kind = result.AuditFailed
	}
	failed := 0
	for _, c := range a.Checks {
		if !c.Passed {
			failed++
		}
	}
	f.add(result.NewFinding(kind, a.Scope()).
		With("failed", float64(failed)).With("checks", float64(len(a.Checks))))
}

// FindLimits finds whether limits hold, where there are any.
func FindLimits(limits result.Verdicts) (all []result.Finding) {
	if failed := limits.Which(result.Verdict.Fails); failed != "" {
		all = append(all, result.NewFinding(result.LimitFailed, failed))
	}
	if open := limits.Which(result.Verdict.Open); open != "" {
		all = append(all, result.NewFinding(result.LimitOpen, open))
	}
	if len(limits) > 0 && len(all) == 0 {
		all = append(all, result.NewFinding(result.LimitsHold, ""))
	}
	return all
}

func (f *findings) findWindow(w measure.Window) {
	if failed := w.Failed(); failed != "" {
		f.find(result.NothingCompleted, failed)
	}
	for _, p := range f.Phases {
		// By a second more or less: phases end between two samples.
		if p.Phase == measure.PhaseRun && (w.From < p.From-1 || w.To > p.To+1) {
			f.add(result.NewFinding(result.OutsideRunPhase, w.Name).
				With("from", p.From).With("to", p.To))
		}
	}
	if w.FewSamples != "" {
		f.find(result.FewSamples, w.FewSamples)
	}
	if w.Cycle.Partial() {
		f.find(result.PartialCycle, w.Cycle.Why)
	}
	// What is left is the case of a rate that varies too much and shows no trend to explain it.
	kind := result.Unsteady
	switch {
	case w.Steady.Verdict:
		kind = result.Steady
	case w.Steady.Unjudged:
		kind = result.NotJudged
	case w.Steady.Drifts():
		kind = result.Drifts
	}
	f.add(result.NewFinding(kind, w.Steady.Why).With("drift_pct", w.Steady.Drift))
	if f.Rate > 0 {
		f.add(result.NewFinding(result.RateSet, f.Words.Cycles).With("rate", f.Rate))
	}
	if f.Pace != nil {
		f.add(result.NewFinding(result.RateSet, "I/Os").With("rate", f.Pace.Target))
	}
	if w.Counts.Dropped > 0 {
		f.add(result.NewFinding(result.OrdersDropped, f.Words.Cycles).
			With("dropped", float64(w.Counts.Dropped)).With("offered", float64(w.Counts.Offered)))
	}
}

// WidestInterval is the half of an interval, as a share of its figure, up to which a result can be
// trustworthy.
const WidestInterval = .05

// findStatement finds what a run lacks to be a statement about storage.
func (f *findings) findStatement() {
	if f.Figure == nil {
		return
	}
	// A figure whose error is unknown or large tells no two stores apart.
	half := f.CI95()
	switch {
	case half == nil:
		f.find(result.NoInterval, cmp.Or(f.Windows[0].NoCI95, "that is unknown of "+f.Figure.Unit))
	case *half > WidestInterval*f.Figure.Value:
		f.add(WideInterval("of the result is", *half/f.Figure.Value))
	}
	// A rate that locks or CPUs limit is the same on faster drives: it says nothing of storage.
	switch b := f.Bottleneck; {
	case b == nil:
		f.find(result.LimitUnknown, "")
	case b.What != diagnose.Storage:
		f.find(result.NotStorage, diagnose.LimitedBy[b.What])
	}
}

// WideInterval is the finding of an interval that is, or may be as wide as, that half, as a share
// of its figure.
func WideInterval(what string, half float64) result.Finding {
	return result.NewFinding(result.WideInterval, what).
		With("half", half).With("most", WidestInterval)
}

// manyFailed is the share of cycles from which on failed attempts are a reservation.
const manyFailed = .001

func (f *findings) findAttempts() {
	failed := int64(0)
	for _, e := range f.Errors {
		failed += e.Count
	}
	text := result.FailureWords(f.Summary)
	if text == "" {
		return
	}
	// A few deadlocks are everyday life of a database under load and only inform.
	one := result.NewFinding(result.AttemptsFailed, text).With("attempts", float64(failed))
	begun := float64(f.Counts.Orders + f.Counts.GivenUp)
	if float64(failed+f.Counts.GivenUp) <= manyFailed*begun {
		one.Effect = result.Informs
	}
	f.add(one)
}

// findChanges finds what was not so all the time, and where another server answered at the end.
func (f *findings) findChanges() {
	for _, target := range f.Targets {
		var another []string
		for _, c := range f.Changes {
			switch {
			case c.Target != target:
			case c.IsOfServer():
				another = append(another, c.Words())
			default:
				f.add(result.NewFinding(result.SettingsChanged, c.Words()).About(target))
			}
		}
		if len(another) > 0 {
			detail := strings.Join(another, "; ")
			f.add(result.NewFinding(result.AnotherServer, detail).About(target))
		}
	}
}

// scrubTolerance is by how much a scan's rate may miss what was asked for.
const scrubTolerance = 0.1

// findScans finds where a background scan did not read what it was to.
func (f *findings) findScans() {
	for _, r := range f.Scrub {
		miss := func(format string, args ...any) {
			detail := fmt.Sprintf(format, args...)
			f.add(result.NewFinding(result.ScanMissed, detail).About(r.Target))
		}
		// A scan that is slower than asked for is less of a load than the users were to bear.
		switch rate := r.PerSecond(); {
		case r.Error != "":
			miss("the background scan failed %d times, the last: %s", r.Failures, r.Error)
		case math.Abs(rate-r.Rate) > scrubTolerance*r.Rate:
			miss("the background scan read %.3g MB/s of the %.3g MB/s asked for", rate/1e6,
				r.Rate/1e6)
		}
		if r.Passes == 0 {
			miss("the background scan made no whole pass through the database, so the run does " +
				"not say what a scan costs: make the run longer, or the scan faster")
		}
	}
}

// shown is what makes a run a poor test of storage, by its samples.
func (v view) shown(e result.Evidence) (all []result.Finding) {
	add := func(f result.Finding) { all = append(all, f) }
	for _, f := range v.Cautions {
		// A database that fits into memory is suspected by its size and acquitted by its reads.
		if f.Kind != result.MemoryHoldsIt || !diagnose.ReadFromDrives(e) {
			add(f)
		}
	}
	for _, share := range []*float64{e.DeviceReads, e.DeviceMost, e.DeviceLog} {
		if share != nil && *share > mostOfDevice {
			add(result.NewFinding(result.BeyondDevice, "").With("share", *share))
			break
		}
	}
	all = append(all, v.judgeSamples()...)
	all = append(all, v.findBurstEnd()...)
	if share := diagnose.Others(e); share != nil {
		add(result.NewFinding(result.OtherPrograms, "").With("share", *share))
	}
	if len(v.Scrub) == 0 { // else it reads several pages at once
		for _, d := range v.drives().Databases() {
			// The store looks up rows by their keys, a page at a time: longer reads are read-ahead,
			// which a scan of a table or a kernel that is set so does.
			mean := d.Data.ReadBytes / d.Data.Reads // NaN where it is not known
			if mean > 2*sampling.PageBytes {
				add(result.NewFinding(result.LargeReads, "").
					With("kilobytes", mean/1024).About(d.Database))
			}
		}
	}
	for _, k := range []struct {
		of   sampling.IOKind
		name string
	}{
		{sampling.IOKind{Role: topology.Data, Over: sampling.Interval}, "a read of the data"},
		{
			sampling.IOKind{Role: topology.Log, Write: true, Over: sampling.Interval},
			"a write of the log",
		},
	} {
		if drive, server, held := v.drives().HeldAbove(k.of); held {
			add(result.NewFinding(result.HeldAbove, k.name).
				With("server_ms", 1e3*server).With("drive_ms", 1e3*drive))
		}
	}
	// IOPS are those of the users. Where the server does not count what vacuums read, that is among
	// them.
	ran := v.totalOf(sampling.DatabaseAutovacuums)
	if v.Words.Unit == result.IOPS && ran != nil && *ran > 0 &&
		v.Counters.Items(sampling.VacuumReads) == nil {
		add(result.NewFinding(result.Vacuums, ""))
	}
	if n := v.totalOf(sampling.DatabaseOtherSessions); n != nil && *n > mostOthers {
		add(result.NewFinding(result.OtherSessions, "").With("sessions", *n))
	}
	return all
}

// mostOthers is how many sessions of others are at work on average beside a run that has the server
// for itself: monitoring asks now and then.
const mostOthers = 0.05

// mostOfDevice is the share of what a device was measured to do by itself that a run may take: what
// the two measurements may differ by.
const mostOfDevice = 1.05
