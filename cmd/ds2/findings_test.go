package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/conclude"
	"ds2/internal/live"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/preflight"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/texttest"
	"ds2/internal/topology"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/mailbox"
)

// making is a run that a test makes up, second by second, before ds2 concludes it.
type making struct {
	s        *result.Summary
	rates    []int // cycles completed in each second
	scatter  int   // by which they vary
	warmup   int   // seconds
	stood    int   // the second before which ds2 stood still for ten; 0: none
	offered  int64 // by an open loop beside those that are completed
	failing  map[int]bool
	counters map[string]float64 // means of columns; NaN: unknown
	observed int                // seconds that have counters
	seed     uint64
}

// newMaking is a run that is trustworthy: steady, limited by storage and audited.
func newMaking(workload string, seed uint64) *making {
	words := ds2.Workload{}.Words()
	if workload == mailbox.Name {
		words = mailbox.Workload{}.Words()
	}
	of := sampling.ItemColumn
	m := &making{
		s: &result.Summary{}, scatter: 4, seed: seed, observed: 200, failing: map[int]bool{},
		rates: slices.Repeat([]int{100}, 200),
		counters: map[string]float64{
			sampling.CPUBusy: .2, sampling.SessionsRunning: .4, sampling.SessionsWaitingForDrives: 3.6,
			of(sampling.DiskReads, "d"): 400, of(sampling.DiskReadTime, "d"): .005,
			of(sampling.DiskWrites, "d"): 100, of(sampling.DiskWriteTime, "d"): .002,
			of(sampling.DiskReads, "l"): 0, of(sampling.DiskWrites, "l"): 50,
			of(sampling.DiskWriteTime, "l"): .001,
		},
	}
	m.s.Spec = result.Spec{
		KitVersion: "made", Workload: workload, Words: words, Engine: "postgres",
		Targets: []string{"host/db"}, Size: "S", Threads: 4, Seed: 1, RampRate: 100,
		MaxRetries: 20, Own: result.NewBlock(struct{}{}),
	}
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	m.s.Happened = result.Happened{
		Status: result.Done, Start: start, End: start.Add(210 * time.Second),
		Machine: &topology.Machine{Processors: 4, Drives: []topology.Drive{
			{Name: "d", Roles: []topology.Role{topology.Data}},
			{Name: "l", Roles: []topology.Role{topology.Log}},
		}},
		Servers: []topology.Server{{Settings: map[string]string{"shared_buffers": "64MB"}}},
	}
	m.s.Audit = &result.Audit{Passed: true, Checks: []result.Check{{Name: "orders", Passed: true}}}
	return m
}

// write concludes the run as package runs does, and writes its record.
func (m *making) write(t *testing.T, dir string) result.Summary {
	t.Helper()
	s := *m.s
	status := s.Status
	s.Status = result.Running
	w, err := result.Create(dir, s)
	require.NoError(t, err)
	meter := measure.NewMeter([]string{"read"}, s.Targets)
	user := meter.NewRecorder(0)
	random := rand.New(rand.NewPCG(m.seed, 64))
	columns := slices.Sorted(maps.Keys(m.counters))
	counters := sampling.Table{Columns: columns}
	meter.Enter(measure.PhaseWarmup)
	for i, rate := range m.rates {
		second := i + 1
		if i == m.warmup {
			meter.Enter(measure.PhaseRun)
		}
		if m.stood > 0 && second > m.stood-10 && second < m.stood {
			continue
		}
		if rate > 0 && m.scatter > 0 {
			rate = max(0, rate+random.IntN(2*m.scatter+1)-m.scatter)
		}
		for range rate {
			var o measure.Order
			d := 10 * time.Millisecond
			o.AddLatency(0, d)
			o.Complete(0, d, d)
			user.Record(&o)
		}
		if m.failing[second] {
			var o measure.Order
			o.Fail(measure.Failure{Operation: "read", Class: "connection"})
			o.GiveUp()
			user.Record(&o)
		}
		end := time.Duration(second) * time.Second
		sample := meter.Sample(end, []measure.Users{{measure.UserRunning: 4}})
		if m.offered > 0 {
			sample.Counts.Offered = int64(rate) + m.offered
			sample.Counts.Dropped = m.offered
		}
		require.NoError(t, w.Sample(sample))
		if second%10 == 0 {
			require.NoError(t, w.Interval(meter.Interval(end)))
		}
		if second <= m.observed {
			row := sampling.Row{Time: s.Start.Add(end)}
			for _, c := range columns {
				v := m.counters[c] * (1 + .002*random.NormFloat64())
				if c == sampling.DatabaseCheckpoints { // one begins every so many seconds
					v = map[bool]float64{true: 1}[second%int(m.counters[c]) == 0]
				}
				row.Values = append(row.Values, v)
			}
			counters.Rows = append(counters.Rows, row)
		}
	}
	require.NoError(t, w.Close())
	if len(columns) > 0 {
		require.NoError(t, result.SaveHost(dir, &counters, s.Start))
		counters, err = result.ReadHost(dir, s.Start, false)
		require.NoError(t, err)
	}
	series, err := result.ReadSeries(dir, false)
	require.NoError(t, err)
	s.Status = status
	result.AddCheckpoints(&s, &series, &counters)
	s.Counts = (&result.Record{Series: series}).Counted()
	s.Conclusion, _ = conclude.Of(conclude.Input{ // the error is of a window that is not there
		Spec: s.Spec, Happened: s.Happened, Series: series, Counters: counters,
		Own: reader().Workloads[s.Workload],
	}, nil)
	conclude.Find(&s)
	require.NoError(t, result.SaveSummary(dir, s))
	return s
}

// madeKind is how a finding of a kind comes to be: by a change of a good run.
type madeKind struct {
	change func(m *making)
	// alone: such a run is made again, so that no level above has it
	alone bool
	// ofDrives: only of a run whose result is the I/Os of drives
	ofDrives bool
	// ofCycles: only of one whose result is not
	ofCycles bool
	// before is the finding before the run, where the preflight knows it
	before func() []preflight.Finding
}

// ended has a run end so.
func ended(s result.Status, text string) func(m *making) {
	return func(m *making) { m.s.Status, m.s.Error = s, text }
}

// noticed has package runs find it while the run goes on, from what no record shows.
func noticed(kind result.FindingKind) madeKind {
	return madeKind{change: func(m *making) {
		m.s.Noticed = append(m.s.Noticed, result.NewFinding(kind, "something that was noticed"))
	}}
}

// observedAs has package monitor find it.
func observedAs(kind result.FindingKind) madeKind {
	found := monitor.Found{Kind: string(kind), Of: "host/db", Detail: "sda"}
	return madeKind{
		change: func(m *making) {
			m.s.Cautions = []result.Finding{result.Observed(found)}
		},
		before: func() []preflight.Finding {
			return preflight.Observed(&monitor.Observer{Found: []monitor.Found{found}})
		},
	}
}

func counter(column string, value float64) func(m *making) {
	return func(m *making) { m.counters[column] = value }
}

// scaled has the rate of each second be a share of it.
func scaled(share func(at float64) float64) func(m *making) {
	return func(m *making) {
		for i := range m.rates {
			m.rates[i] = int(float64(m.rates[i]) * share(float64(i)/float64(len(m.rates))))
		}
	}
}

func gap(from, to int) func(m *making) {
	return func(m *making) {
		for second := from; second < to; second++ {
			m.rates[second-1] = 0
		}
	}
}

func changed(names ...string) func(m *making) {
	return func(m *making) {
		for _, name := range names {
			m.s.Changes = append(m.s.Changes, result.Change{
				Target: "host/db", When: "between 12:00 and 12:04", What: name, Before: "1", After: "2",
			})
		}
	}
}

// kindsOfRuns has a row for each kind of finding of a run.
var kindsOfRuns = map[result.FindingKind]madeKind{
	result.RunFailed:      {change: ended(result.Failed, "the server is gone")},
	result.RunInterrupted: {change: ended(result.Interrupted, "stopped"), alone: true},
	result.RunUnfinished:  {change: ended(result.Running, ""), alone: true},
	result.RunAborted:     {change: ended(result.Aborted, "limits failed for 30s on end")},
	result.NoWindow:       {change: func(m *making) { m.s.WindowTexts = []string{"1000s-1200s"} }},
	result.OutsideRunPhase: {change: func(m *making) {
		m.warmup = 50
		m.s.WindowTexts = []string{"10s-150s"}
	}},
	result.NothingCompleted: {change: gap(50, 190)},
	result.AuditPassed:      {change: func(*making) {}},
	result.AuditFailed:      {change: func(m *making) { m.s.Audit = &result.Audit{Checks: []result.Check{{Name: "orders"}}} }},
	result.AuditNotMade:     {change: func(m *making) { m.s.Audit = &result.Audit{NotAudited: "the server is gone"} }},
	result.NotAudited:       {change: func(m *making) { m.s.Audit = nil }},
	result.Undamaged:        {change: func(m *making) { m.s.DeepChecks = []store.DeepCheck{{Bytes: 5e6}} }},
	result.Damaged: {change: func(m *making) {
		m.s.DeepChecks = []store.DeepCheck{{Damage: []store.Damage{{Object: "orders", Found: "a hole"}}}}
	}},
	result.DeepCheckNotMade: noticed(result.DeepCheckNotMade),
	result.LimitsHold:       {change: func(m *making) { m.s.LimitTexts = []string{"opm > 1"} }},
	result.LimitFailed:      {change: func(m *making) { m.s.LimitTexts = []string{"opm > 99999"} }},
	result.LimitOpen: {ofCycles: true, change: func(m *making) {
		m.scatter = 60
		m.s.LimitTexts = []string{"opm > 6030"}
	}},
	result.Away: {change: func(m *making) {
		gap(90, 94)(m)
		m.failing[93] = true
	}},
	result.StoodStill: {change: func(m *making) { m.stood = 100 }},
	result.Steady:     {change: func(*making) {}},
	result.NotJudged:  {change: func(m *making) { m.rates = m.rates[:9] }},
	result.Unsteady: {change: scaled(func(at float64) float64 {
		if at > .4 && at < .6 {
			return 1.5
		}
		return 1
	})},
	result.Drifts: {change: scaled(func(at float64) float64 { return .8 + .4*at })},
	result.FewSamples: {change: scaled(func(at float64) float64 {
		return 1 + .08*math.Sin(2*math.Pi*2.5*at)
	})},
	result.WideInterval: {change: func(m *making) { m.scatter = 95 }, ofCycles: true},
	result.PartialCycle: {change: func(m *making) {
		m.s.WindowTexts = []string{"20s-140s"}
		m.counters[sampling.DatabaseCheckpoints] = 70
		m.counters[sampling.DatabaseCheckpointPages] = 50
	}},
	result.NoInterval: {change: func(m *making) { m.rates = m.rates[:40] }},
	result.RateSet: {change: func(m *making) {
		m.s.Rate = 100
		m.offered = 0
	}},
	result.OrdersDropped: {change: func(m *making) {
		m.s.Rate = 101
		m.offered = 1
	}},
	result.AttemptsFailed: {change: func(m *making) { m.s.Errors = []measure.FailureCount{{Class: "deadlock", Count: 500}} }},
	result.SameNode: {change: func(m *making) {
		m.s.Cluster = &result.Cluster{Node: "worker-1", DriverNode: "worker-1"}
	}},
	result.EngineUnproven: {change: func(m *making) { m.s.Proof = "experimental" }},
	result.NotStorage: {change: func(m *making) {
		m.counters[sampling.CPUBusy] = .97
		m.counters[sampling.SessionsWaitingForDrives] = .1
	}},
	result.LimitUnknown:    {change: func(m *making) { m.counters = nil; m.s.Machine = nil }},
	result.SettingsChanged: {change: changed("setting work_mem")},
	result.AnotherServer:   {change: changed("timeline", "setting data_directory")},
	result.ChangeUnknown:   noticed(result.ChangeUnknown),
	result.FailedBefore:    noticed(result.FailedBefore),
	result.MemoryHoldsIt: {
		change: func(m *making) {
			observedAs(result.MemoryHoldsIt).change(m)
			m.counters[sampling.ItemColumn(sampling.DiskReads, "d")] = 20
		},
		before: observedAs(result.MemoryHoldsIt).before,
	},
	result.OtherPrograms: {change: func(m *making) {
		m.s.Local = true
		m.counters[sampling.CPUBusy] = .8
		m.counters[sampling.ClientOwn] = .4
		m.counters[sampling.ServerProcessors] = .4
	}},
	result.OtherIO: {change: func(m *making) {
		m.counters[sampling.ItemColumn(sampling.TransactionReads, "host")] = 100
		m.counters[sampling.ItemColumn(sampling.VacuumReads, "host")] = 0
	}},
	result.PartlyCovered: {change: func(m *making) { m.observed = 170 }},
	result.Uncovered:     {change: func(m *making) { m.observed = 60 }},
	result.OtherClients:  noticed(result.OtherClients),
	result.OtherSessions: {change: counter(sampling.DatabaseOtherSessions, 1)},
	result.LargeReads: {change: func(m *making) {
		m.s.Machine.Files = []topology.DatabaseFile{
			{Name: "f", Database: "host/db", Role: topology.Data},
		}
		m.counters[sampling.ItemColumn(sampling.OfFile(sampling.DiskReads), "f")] = 100
		m.counters[sampling.ItemColumn(sampling.OfFile(sampling.DiskReadBytes), "f")] = 100 * 65536
	}},
	result.HeldAbove: {change: func(m *making) {
		m.counters[sampling.ItemColumn(sampling.TransactionReads, "host")] = 400
		m.counters[sampling.ItemColumn(sampling.TransactionReadTime, "host")] = 400 * .050
	}},
	result.Vacuums: {
		change:   counter(sampling.ItemColumn(sampling.DatabaseAutovacuums, "host"), .1),
		ofDrives: true,
	},
	result.SettingsReloaded: {change: counter(sampling.DatabaseSettingsLoaded, 1)},
	result.StoodLong:        {change: gap(90, 100)},
	result.Distorted:        observedAs(result.Distorted),
	result.DriveThrottled: {change: func(m *making) {
		m.s.SMART = []monitor.SMART{{Drive: "d", Throttled: "for 30 minutes"}}
	}},
	result.IOErrors:   noticed(result.IOErrors),
	result.NotMerged:  noticed(result.NotMerged),
	result.PaceMissed: noticed(result.PaceMissed),
	result.NotWarm:    noticed(result.NotWarm),
	result.ScanMissed: {change: func(m *making) {
		m.s.Scrub = []result.Scrub{{Target: "host/db", Rate: 1e6, Bytes: 60e6, Seconds: 60, Device: new(int64(0))}}
	}},
	result.EventFailed: {change: func(m *making) {
		m.s.Events = []result.Event{{From: 60, To: 60, Command: "false", Error: "exit status 1"}}
	}},
	result.BeyondDevice: {change: func(m *making) {
		m.s.Device = &result.Device{
			Reads: []result.DevicePoint{{Depth: 1, IOPS: 100, Reads: 100, Mean: 5}},
			Log:   result.DevicePoint{IOPS: 1000, Mean: 1},
		}
	}},
	result.BurstEnded: {change: scaled(func(at float64) float64 {
		if at > .5 {
			return .4
		}
		return 1
	})},
	result.MayBurst:         observedAs(result.MayBurst),
	result.WithinBurst:      observedAs(result.WithinBurst),
	result.MountsAssumed:    observedAs(result.MountsAssumed),
	result.DrivesUnknown:    observedAs(result.DrivesUnknown),
	result.DevicesElsewhere: observedAs(result.DevicesElsewhere),
}

// bench writes a bench of runs and what they come to; change is asked of each, from 0.
func bench(t *testing.T, dir string, b result.Bench, runs int, change func(i int, m *making)) result.Bench {
	t.Helper()
	require.NoError(t, result.MakeDir(dir))
	b.Start = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	if b.Status == "" {
		b.Status = result.Done
	}
	for i := range runs {
		m := newMaking(ds2.Name, uint64(i))
		m.s.RunID = fmt.Sprintf("made-%d", i+1)
		for k := range m.rates {
			m.rates[k] += i % 3
		}
		change(i, m)
		name := fmt.Sprintf("run-%d", i+1)
		s := m.write(t, filepath.Join(dir, name))
		if b.Engine == "" {
			was := b.Spec
			b.Spec = s.Spec
			b.DropUnsteady, b.RunID = was.DropUnsteady, filepath.Base(dir)
			b.Runs = nil
			b.Spec.Runs = runs
			if was.Threads > 0 {
				b.Threads = was.Threads
			}
		}
		of := filepath.Base(dir)
		place := (int(of[0]) + 2*int(of[len(of)-1]) + i) % 4 // in its block, where all take turns
		number := 10*i + place + 1
		r := result.BenchRun{Dir: name, RunID: s.RunID, Status: s.Status, Number: number}
		if b.Experiment != "" {
			r.Block = i + 1
		}
		compare.Take(&r, s)
		if s.Status == result.Failed {
			r.Headline = result.Headline{}
		}
		b.Runs = append(b.Runs, r)
	}
	compare.Runs(&b)
	require.NoError(t, result.SaveSummary(dir, b))
	return b
}

// experimentOf writes the experiment that benches below a directory are of.
func experimentOf(t *testing.T, dir string, names ...string) {
	t.Helper()
	e := result.Experiment{
		KitVersion: "made", ExperimentID: "made", Start: time.Now(), Status: result.Done,
		Order: result.OrderRandom, Least: 3, Most: 3,
	}
	for _, name := range names {
		one := result.Configuration{Name: name, Dir: name}
		if of, threads, factors := strings.Cut(name, "-"); factors {
			one.Of = of
			one.Factors = []result.Setting{{Flag: "threads", Value: threads}}
		}
		e.Configurations = append(e.Configurations, one)
	}
	e.Subject = []string{"threads"}
	require.NoError(t, result.SaveSummary(dir, e))
}

// findingsIn are the findings of what a command prints as JSON, whatever it is of.
func findingsIn(t *testing.T, out string) []result.Finding {
	t.Helper()
	type record struct {
		Findings   []result.Finding
		Comparison struct{ Findings []result.Finding }
	}
	var several []record
	if json.Unmarshal([]byte(out), &several) != nil {
		several = make([]record, 1)
		require.NoError(t, json.Unmarshal([]byte(out), &several[0]), out)
	}
	var all []result.Finding
	for _, of := range several {
		all = append(append(all, of.Findings...), of.Comparison.Findings...)
	}
	return all
}

// shows holds that a kind is in JSON, text and page of a report or a comparison, and that none has
// a better level than its effect allows.
func shows(t *testing.T, kind result.FindingKind, effect result.Effect, args ...string) {
	t.Helper()
	_, out, stderr := execute(t, append([]string{args[0], "-o", "json"}, args[1:]...)...)
	require.NotEmpty(t, out, stderr)
	all := findingsIn(t, out)
	require.NotNil(t, result.FindingOf(all, kind), "%s: JSON of %v %s\n%s", kind, args,
		stderr, strings.Join(result.Sentences(all, result.Informs), "\n"))
	worst := result.WorstEffect(all)
	assert.False(t, effect.Worse(worst), "%s: level %s of %v", kind, worst, args)
	_, text, _ := execute(t, append([]string{args[0], "-o", "text", "--details"}, args[1:]...)...)
	screens := map[string]string{"text": text}
	if args[0] == "report" { // that of an experiment has its comparison and its benches
		_, page, _ := execute(
			t, append([]string{args[0], "-o", "html", "--out", "-"}, args[1:]...)...,
		)
		screens["page"] = wordsOnPage(page)
	}
	for what, screen := range screens {
		screen = strings.ToLower(texttest.Flat(screen))
		assert.Contains(
			t, screen, " "+strings.ToLower(worst.Level())+" ", "%s: %s of %v", kind, what, args,
		)
		for _, f := range result.OfAll(all) {
			if f.Kind == kind {
				words := strings.ToLower(texttest.Flat(f.Words()))
				assert.Contains(t, screen, words, "%s: %s of %v", kind, what, args)
			}
		}
	}
}

// TestFindings: each kind of finding of a run, made by a change of a good run that ds2 concludes,
// is there at each level above it and in each output, at no better a level.
func TestFindings(t *testing.T) {
	t.Parallel()
	gate := []string{"compare", "--fail-if", "opm < -90 %"}
	good := filepath.Join(t.TempDir(), "good")
	m := newMaking(ds2.Name, 7)
	s := m.write(t, good)
	require.Equal(
		t, result.Informs, result.WorstEffect(s.Findings), "%v",
		result.Sentences(s.Findings, result.Reserves),
	)
	for _, kind := range result.FindingKinds {
		if kind.Scope == result.OfConfiguration {
			continue
		}
		t.Run(string(kind.Kind), func(t *testing.T) {
			t.Parallel()
			row, ok := kindsOfRuns[kind.Kind]
			require.True(t, ok, "no row")
			workload := ds2.Name
			if row.ofDrives {
				workload = mailbox.Name
			}
			dir := memory(t)
			one := newMaking(workload, 7)
			row.change(one)
			run := filepath.Join(dir, "run")
			one.write(t, run)
			shows(t, kind.Kind, kind.Effect, "report", run)
			if !row.ofDrives && !row.ofCycles {
				form := newMaking(mailbox.Name, 7)
				row.change(form)
				form.write(t, filepath.Join(dir, "form"))
				formShows(t, kind, filepath.Join(dir, "form"))
			} else if row.ofDrives {
				formShows(t, kind, run)
			}
			if row.before != nil {
				before := row.before()
				assert.True(t, slices.ContainsFunc(before, func(b preflight.Finding) bool {
					return b.Kind == preflight.Kind(kind.Kind) && b.State != preflight.OK
				}), "%s: preflight %v", kind.Kind, before)
			}
			if row.alone {
				return
			}
			change := func(i int, m *making) {
				if i == 1 {
					m.s.Workload, m.s.Words = one.s.Workload, one.s.Words
					row.change(m)
				} else if row.ofDrives {
					m.s.Workload, m.s.Words = one.s.Workload, one.s.Words
				}
			}
			a := filepath.Join(dir, "a")
			b := filepath.Join(dir, "b")
			bench(t, a, result.Bench{Experiment: "made"}, 2, func(i int, m *making) {
				m.s.Workload, m.s.Words = one.s.Workload, one.s.Words
			})
			bench(t, b, result.Bench{Experiment: "made"}, 2, change)
			experimentOf(t, dir, "a", "b")
			above := result.NewFinding(kind.Kind, "").AmongRuns()
			shows(t, kind.Kind, above, "report", dir)
			liveShows(t, kind.Kind, above, dir)
			shows(t, kind.Kind, above, "compare", a, b)
			shows(t, kind.Kind, above, "report", b)
			if row.ofDrives {
				return
			}
			code, out, _ := execute(t, append(gate, a, b)...)
			switch above {
			case result.Fails:
				assert.Equal(t, exitVerdict, code, "a gate beside %s\n%s", kind.Kind, out)
			case result.Withholds:
				assert.NotEqual(t, exitDone, code, "a gate beside %s\n%s", kind.Kind, out)
			}
		})
	}
}

// liveShows: what the live page of an experiment sends to a viewer has a level that is no better
// than that of what was found and, as far as the first screen has sentences, those of a kind.
func liveShows(t *testing.T, kind result.FindingKind, effect result.Effect, dir string) {
	t.Helper()
	page := live.New("ds2 experiment")
	shown := &interrupts{served: &served{page: page}}
	_, err := (&experimentFlags{}).refreshReport(shown, dir, 0)
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(page.Stream))
	defer server.Close()
	answer, err := server.Client().Get(server.URL)
	require.NoError(t, err)
	page.End("it is over")
	sent, err := io.ReadAll(answer.Body)
	require.NoError(t, errors.Join(err, answer.Body.Close()))

	var part string
	_, after, there := strings.Cut(string(sent), "event: found\ndata: ")
	require.True(t, there, "%s: %s", kind, sent)
	data, _, _ := strings.Cut(after, "\n")
	require.NoError(t, json.Unmarshal([]byte(data), &part))
	screen := strings.ToLower(texttest.Flat(wordsOnPage(part)))

	_, out, _ := execute(t, "report", "-o", "json", dir)
	all := findingsIn(t, out)
	worst := result.WorstEffect(all)
	assert.False(t, effect.Worse(worst), "%s: level %s of the live page", kind, worst)
	assert.Contains(t, screen, " "+strings.ToLower(worst.Level())+" ", "%s: live page", kind)
	if effect != worst {
		return // the first screen says what decides
	}
	decides := slices.ContainsFunc(result.OfAll(all), func(f result.Finding) bool {
		return f.Effect == worst && strings.Contains(screen, strings.ToLower(texttest.Flat(f.Words())))
	})
	assert.True(t, worst == result.Informs || decides, "%s: live page\n%s", kind, screen)
}

// formShows: ESRP's form of a run has what was found of it, and passes nothing that failed.
func formShows(t *testing.T, kind result.KindOfFinding, run string) {
	t.Helper()
	s, err := result.ReadSummary[result.Summary](run)
	require.NoError(t, err)
	code, text, stderr := execute(t, "report", "-o", "esrp", run)
	if code != 0 { // it has no window, or no drives
		assert.Contains(t, stderr, "ESRP's form", kind.Kind)
		return
	}
	f := result.FindingOf(s.Findings, kind.Kind)
	require.NotNil(
		t, f, "%s of the form's run: %v", kind.Kind, result.Sentences(s.Findings, result.Informs),
	)
	screen := strings.ToLower(texttest.Flat(text))
	assert.Contains(t, screen, strings.ToLower(texttest.Flat(f.Words())), "%s: form", kind.Kind)
	if f.Effect == result.Fails {
		assert.NotContains(t, screen, "overall test result pass", "%s: form", kind.Kind)
	}
}

// wordsOnPage is the words of a page, with a blank between each two.
func wordsOnPage(page string) string {
	var text strings.Builder
	for part := range strings.SplitSeq(page, "<") {
		_, after, _ := strings.Cut(part, ">")
		text.WriteString(" " + after)
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#39;", "'", "&#34;", `"`, "&amp;", "&", "&#43;", "+").
		Replace(text.String())
}

// memory is a directory whose files need not reach a drive, where there is one.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "findings")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// several is how a finding of several runs comes to be: benches a and b below dir, whose runs are
// changed, and what is asked of them.
type several struct {
	a, b result.Bench // their settings
	runs int          // of each; 0: 3
	of   func(name string, i int, m *making)
	gate string
	// alone: of the bench b by itself
	alone bool
	// gone is the directory of a run that somebody removed from each bench
	gone string
	// factors: the benches are those of a factor, too
	factors bool
}

// unchanged leaves a run as it is.
func unchanged(string, int, *making) {}

// onB has the runs of b changed.
func onB(change func(i int, m *making)) func(string, int, *making) {
	return func(name string, i int, m *making) {
		if strings.HasPrefix(name, "b") {
			change(i, m)
		}
	}
}

// faster has a run do so many times as much, with as many reads for each cycle.
func faster(m *making, times float64) {
	m.counters[sampling.ItemColumn(sampling.DiskReads, "d")] *= max(times, .1)
	for i := range m.rates {
		m.rates[i] = int(float64(m.rates[i]) * times)
	}
}

var ofExperiment = result.Bench{Experiment: "made"}

// kindsOfSeveral has a row for each kind of finding of several runs.
var kindsOfSeveral = map[result.FindingKind]several{
	result.NoResult: {alone: true, of: onB(func(_ int, m *making) {
		m.s.Status = result.Failed
		m.s.Error = "the server is gone"
	})},
	result.SingleRun: {alone: true, runs: 1, of: unchanged},
	result.RunsAgree: {of: unchanged},
	result.RunsDropped: {
		b: result.Bench{Spec: result.Spec{DropUnsteady: true}},
		of: onB(func(i int, m *making) {
			if i == 1 {
				kindsOfRuns[result.Unsteady].change(m)
			}
		}),
	},
	result.OtherFigure: {alone: true, of: onB(func(i int, m *making) {
		m.s.Workload, m.s.Words = mailbox.Name, mailbox.Workload{}.Words()
		if i == 1 {
			m.s.Machine.Drives = nil
		}
	})},
	result.NotAllMade: {b: result.Bench{Status: result.Interrupted}, of: unchanged},
	result.RecordGone: {gone: "run-2", of: unchanged},
	result.LeftOut: {
		a: ofExperiment, of: unchanged,
		b: result.Bench{Experiment: "made", Status: result.Failed, Error: "two in a row"},
	},
	result.StillWarming: {of: onB(func(_ int, m *making) {
		scaled(func(at float64) float64 { return .8 + .4*at })(m)
	})},
	result.StillSlowing: {of: onB(func(_ int, m *making) {
		scaled(func(at float64) float64 { return 1.2 - .4*at })(m)
	})},
	result.InOrder: {runs: 6, of: onB(func(i int, m *making) { faster(m, 1-.03*float64(i)) })},
	result.RunsShareError: {runs: 6, of: onB(func(i int, m *making) {
		m.seed = 1
		for k := range m.rates {
			m.rates[k] -= i % 3
		}
		m.scatter = 90
	})},
	result.NoRatio: {of: onB(func(i int, m *making) {
		if i == 1 {
			faster(m, 0)
		}
	})},
	result.Unlike: {b: result.Bench{Spec: result.Spec{Threads: 8}}, of: unchanged},
	result.RunsUnlike: {of: onB(func(i int, m *making) {
		m.s.Servers[0].Settings = map[string]string{"shared_buffers": fmt.Sprintf("%dMB", 64+i)}
	})},
	result.NotInBlocks: {of: unchanged},
	result.Blind: {of: onB(func(i int, m *making) {
		faster(m, []float64{.3, 2.5, .9}[i])
	})},
	result.CachesUnlike: {of: onB(func(_ int, m *making) {
		m.counters[sampling.ItemColumn(sampling.DiskReads, "d")] = 900
	})},
	result.DifferenceFound: {of: onB(func(_ int, m *making) { faster(m, 2) })},
	result.FactorsDepend: {
		a: ofExperiment, b: ofExperiment, runs: 6, factors: true,
		of: func(name string, i int, m *making) {
			m.seed = uint64(10*i) + 2*uint64(name[0]) + uint64(name[2]) // they do not vary alike
			if name == "b-2" {
				faster(m, 1.5)
			}
		},
	},
	result.DifferenceOnly: {runs: 1, of: unchanged},
	result.NotOfStorage: {of: onB(func(_ int, m *making) {
		faster(m, 2)
		kindsOfRuns[result.NotStorage].change(m)
	})},
	result.GatePassed: {gate: "opm < -50 %", of: unchanged},
	result.GateOpen:   {gate: "opm < -50 %", runs: 1, of: unchanged},
	result.GateFailed: {gate: "opm < -5 %", of: onB(func(_ int, m *making) { faster(m, .5) })},
}

// ofHistories are kinds that ds2 history alone has, whose tests hold them.
var ofHistories = []result.FindingKind{
	result.LevelChanged, result.LevelKept, result.FewDays, result.DayUncounted,
	result.RecordLeftOut, result.NotOfHistory, result.OtherHistory,
}

// TestFindingsOfSeveral: each kind of finding of several runs is there in each output that has
// them, at no better a level.
func TestFindingsOfSeveral(t *testing.T) {
	t.Parallel()
	for _, kind := range result.FindingKinds {
		if kind.Scope != result.OfConfiguration || slices.Contains(ofHistories, kind.Kind) {
			continue
		}
		t.Run(string(kind.Kind), func(t *testing.T) {
			t.Parallel()
			row, ok := kindsOfSeveral[kind.Kind]
			require.True(t, ok, "no row")
			runs := row.runs
			if runs == 0 {
				runs = 3
			}
			dir := memory(t)
			names := []string{"a", "b"}
			if row.factors {
				names = []string{"a-1", "a-2", "b-1", "b-2"}
			}
			var dirs []string
			for _, name := range names {
				b := row.a
				if strings.HasPrefix(name, "b") {
					b = row.b
				}
				at := filepath.Join(dir, name)
				bench(t, at, b, runs, func(i int, m *making) { row.of(name, i, m) })
				if row.gone != "" {
					require.NoError(t, os.RemoveAll(filepath.Join(at, row.gone)))
				}
				dirs = append(dirs, at)
			}
			switch {
			case row.alone:
				shows(t, kind.Kind, kind.Effect, "report", dirs[1])
			case row.a.Experiment != "":
				experimentOf(t, dir, names...)
				shows(t, kind.Kind, kind.Effect, "report", dir)
			case row.gate != "":
				shows(
					t, kind.Kind, kind.Effect,
					append([]string{"compare", "--fail-if", row.gate}, dirs...)...,
				)
			default:
				shows(t, kind.Kind, kind.Effect, append([]string{"compare"}, dirs...)...)
			}
		})
	}
}

// TestRunsWithoutResult: a run that ended before its first window did is compared as a bench is of
// which no run counts, and a gate says so, or that it failed.
func TestRunsWithoutResult(t *testing.T) {
	t.Parallel()
	dir := memory(t)
	good := filepath.Join(dir, "good")
	newMaking(ds2.Name, 7).write(t, good)
	for kind, code := range map[result.FindingKind]int{
		result.NoWindow: exitUnknown, result.RunFailed: exitVerdict,
	} {
		short := newMaking(ds2.Name, 7)
		kindsOfRuns[result.NoWindow].change(short)
		kindsOfRuns[kind].change(short)
		run := filepath.Join(dir, string(kind))
		short.write(t, run)
		shows(t, result.NoResult, result.Withholds, "compare", good, run)
		stdout, _ := ends(t, code, "compare", "--fail-if", "opm < -90 %", good, run)
		assert.Contains(t, stdout, "no run counts", kind)
	}
}
