package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/limit"
	"ds2/internal/result"
)

// day is a bench of one run on the n-th day.
func day(n int, opm float64, change func(*result.Spec, *result.Environment)) Day {
	spec := result.Spec{RunID: fmt.Sprint(n), KitVersion: "v1", Threads: 8, Runs: 1}
	environment := result.Environment{Kernel: "6.1", Machine: "db1"}
	if change != nil {
		change(&spec, &environment)
	}
	b := result.Bench{
		Spec: spec, Status: result.Done,
		Start: time.Date(2026, 1, n, 4, 0, 0, 0, time.UTC),
		Runs: []result.BenchRun{{
			Dir: "run-1", Status: result.Done, Environment: &environment,
			Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: opm}),
		}},
	}
	compare.Runs(&b)
	c := compare.Configuration{Name: "x", Bench: b}
	return Day{Configuration: c, Start: b.Start, Version: "v1"}
}

// noise are days that vary by 1 or 2 %.
var noise = []float64{0, 150, -120, 80, -200, 30, 110, -90, -40, 170, -60, 20}

// historyOf are the histories of twelve days, changed by some of them.
func historyOf(
	change func(n int, opm *float64, spec *result.Spec, environment *result.Environment),
) (all []History) {
	for i, by := range noise {
		opm := 10_000 + by
		all = sortIn(all, day(i+1, opm, func(s *result.Spec, e *result.Environment) {
			if change != nil {
				change(i+1, &opm, s, e)
			}
		}))
		h := &all[len(all)-1]
		if d := &h.Days[len(h.Days)-1]; d.Start.Day() == i+1 {
			d.Runs[0].Figure.Value = opm
			compare.Runs(&d.Configuration.Bench)
		}
	}
	for i := range all {
		all[i].concludeDays()
	}
	return all
}

func TestChangeOfLevel(t *testing.T) {
	all := historyOf(func(n int, opm *float64, _ *result.Spec, e *result.Environment) {
		if n >= 9 {
			*opm *= .9
			e.Kernel = "6.5"
		}
	})
	require.Len(t, all, 1, "a kernel is no other configuration")
	h := all[0]
	require.Len(t, h.Changes, 1)
	assert.Equal(t, "2026-01-09", h.Changes[0].Name)
	assert.Less(t, *h.Changes[0].High, -5.)
	assert.Greater(t, *h.Changes[0].Low, -15.)
	found := result.FindingOf(h.Findings, result.LevelChanged)
	assert.Contains(t, found.Words(), "OPM changed on 2026-01-09 by -9.8 %")
	assert.Contains(t, found.Words(), "new on that day: kernel 6.1 → 6.5")
	assert.Empty(t, h.Days[9].Differs)
	assert.True(t, *h.Low > 8_500 && *h.High < 9_600, "%v to %v", *h.Low, *h.High)

	c := Against(all, day(20, 9_000, nil).Configuration)
	assert.Len(t, c.Configurations[0].Days, 4, "the days since the change")
	kept := historyOf(nil)[0]
	assert.Empty(t, kept.Changes)
	assert.NotNil(t, result.FindingOf(kept.Findings, result.LevelKept))
}

// TestUnlikeRecords: what is of another configuration has a history of its own.
func TestUnlikeRecords(t *testing.T) {
	for what, change := range map[string]func(*result.Spec, *result.Environment){
		"threads":  func(s *result.Spec, _ *result.Environment) { s.Threads = 16 },
		"runs":     func(s *result.Spec, _ *result.Environment) { s.Runs = 5 },
		"targets":  func(s *result.Spec, _ *result.Environment) { s.Targets = []string{"db2/ds2"} },
		"machine":  func(_ *result.Spec, e *result.Environment) { e.Machine = "db2" },
		"settings": nil,
		"version":  nil,
	} {
		all := historyOf(func(n int, _ *float64, s *result.Spec, e *result.Environment) {
			switch {
			case n < 9:
			case change != nil:
				change(s, e)
			case what == "settings":
				e.Settings = []result.Said{{Name: "shared_buffers", Value: "1GB"}}
			default:
				s.KitVersion = "v2"
			}
		})
		if change == nil {
			assert.Len(t, all, 1, what)
			continue
		}
		require.Len(t, all, 2, what)
		assert.Len(t, all[0].Days, 8, what)

		other := Against(all[:1], day(20, 10_000, change).Configuration)
		unknown := result.FindingOf(other.Findings, result.NotOfHistory)
		require.NotNil(t, unknown, what)
		assert.Contains(t, unknown.Words(), "8 days with "+what)
		gate, err := limit.ParseGate("opm < -5 %")
		require.NoError(t, err)
		require.NoError(t, other.Judge(gate))
		assert.Equal(t, compare.GateOpen, other.Gates[0].Outcome, what)
	}
}

func TestGateAgainstHistory(t *testing.T) {
	gate, err := limit.ParseGate("opm < -5 %")
	require.NoError(t, err)
	all := historyOf(nil)
	again := all[0].Days[11].Configuration
	for _, c := range []struct {
		why  string
		all  []History
		next compare.Configuration
		want compare.Outcome
		days int
	}{
		{"equal", all, day(20, 10_000, nil).Configuration, compare.GatePassed, 12},
		{"far below", all, day(20, 8_000, nil).Configuration, compare.GateFailed, 12},
		{"near the bound", all, day(20, 9_600, nil).Configuration, compare.GateOpen, 12},
		{"a day of the history", all, again, compare.GatePassed, 11},
		{"before it", all, day(-3, 8_000, nil).Configuration, compare.GateOpen, 0},
		{
			"one day",
			[]History{{Days: all[0].Days[:1]}},
			day(20, 8_000, nil).Configuration, compare.GateOpen, 1,
		},
	} {
		compared := Against(c.all, c.next)
		require.NoError(t, compared.Judge(gate), c.why)
		assert.Equal(t, c.want, compared.Gates[0].Outcome, "%s: %+v", c.why, compared.Gates[0])
		assert.Len(t, compared.Configurations[0].Days, c.days, c.why)
	}
}

// TestUncountedDays: days that do not count for one reason are one finding, however many there are.
func TestUncountedDays(t *testing.T) {
	all := historyOf(nil)
	for i := range 8 {
		all[0].Days[i].Runs[0].Figure = nil
		compare.Runs(&all[0].Days[i].Configuration.Bench)
	}
	all[0].Findings = nil
	all[0].concludeDays()
	var texts []string
	for _, f := range all[0].Findings {
		if f.Kind == result.DayUncounted {
			texts = append(texts, f.Detail)
		}
	}
	assert.Equal(t,
		[]string{"not counted (no result): 2026-01-01, 2026-01-02, 2026-01-03 and 5 more"}, texts)
}

// TestFindingsOfDays: a history is no better than the runs that it stands on.
func TestFindingsOfDays(t *testing.T) {
	all := historyOf(nil)
	for i := range all[0].Days {
		d := &all[0].Days[i]
		d.Runs[0].Findings = []result.Finding{result.NewFinding(result.NotAudited, "")}
	}
	all[0].Findings = nil
	all[0].concludeDays()
	f := result.FindingOf(all[0].Findings, result.NotAudited)
	require.NotNil(t, f)
	assert.Len(t, f.Runs, 12)
	c := Against(all, day(20, 9_000, nil).Configuration)
	assert.NotNil(t, result.FindingOf(c.Findings, result.NotAudited))
}
