package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/driver"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/store"
)

// script plays runs whose outcomes are given: OPM, or what is wrong with them.
type script struct {
	outcomes []outcome
	told     []string // what happened, with the time since the start
	start    time.Time
	dirs     []string
}

type outcome struct {
	opm, idle, active float64
	fault             string
	limits            result.Verdicts
	unsteady          bool
	aborted, noWindow bool
	err               error
}

func newScript(outcomes ...outcome) *script {
	return &script{outcomes: outcomes, start: time.Now()}
}

func (s *script) note(what string) {
	s.told = append(s.told, fmt.Sprintf("%s %s", time.Since(s.start).Round(time.Second), what))
}

func (s *script) bench(dir string) *Bench {
	return &Bench{
		Dir:     dir,
		Restore: func(_, _ context.Context) error { s.note("restore"); return nil },
		Run: func(dir string, place runs.Place) (result.Summary, error) {
			s.note(fmt.Sprintf("run %d", place.Number))
			time.Sleep(20 * time.Minute)
			o := s.outcomes[0]
			s.outcomes = s.outcomes[1:]
			s.dirs = append(s.dirs, filepath.Base(dir))
			r := finished(o.opm)
			r.Limits = o.limits
			r.Windows[0].Steady = measure.Steadiness{Verdict: !o.unsteady, Why: "not steady"}
			if o.aborted {
				r.Status = result.Aborted
			}
			if o.noWindow {
				r.Conclusion = result.Conclusion{}
			}
			if o.active > 0 {
				r.Power = &result.Power{Idle: &o.idle, Active: &o.active}
				r.Figure.PerWatt = r.Power.PerWatt(o.opm)
			}
			if o.fault != "" {
				r.Noticed = append(r.Noticed, result.NewFinding(result.IOErrors, o.fault))
			}
			return r, o.err
		},
		Told: func(string, ...any) {},
	}
}

// do makes the runs of a bench, from its start or from where b ends.
func (s *script) do(t *testing.T, dir string, b result.Bench) (result.Bench, error) {
	p := s.bench(dir)
	p.Summary = b
	err := p.Do(t.Context(), t.Context())
	return p.Summary, err
}

// finished is what a steady run with an OPM comes to.
func finished(opm float64) result.Summary {
	return result.Summary{
		Happened: result.Happened{Status: result.Done},
		Conclusion: result.Conclusion{
			Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: opm}),
			Windows:  []measure.Window{{OPM: opm, Steady: measure.Steadiness{Verdict: true}}},
		},
	}
}

// ofReport is the setup of the storage report.
var ofReport = result.Bench{Spec: result.Spec{
	Runs:   3,
	Settle: result.Duration{Duration: 8 * time.Minute},
	Idle: result.Duration{
		Duration: 2 * time.Minute,
	},
	Cooldown: result.Duration{Duration: time.Minute},
}}

// TestBenchOfTheStorageReport makes the report's runs of its SSDs, with the idle and active watts
// that its table gives for the run with the median OPM, and others around them. A failed limit is
// no reason to repeat a run.
func TestBenchOfTheStorageReport(t *testing.T) {
	verdict := func(ok bool) result.Verdicts {
		return result.Verdicts{{Limit: "opm > 65000", OK: ok}}
	}
	synctest.Test(t, func(t *testing.T) {
		s := newScript(
			outcome{opm: 64973.7, idle: 395.0, active: 501.4, limits: verdict(false)},
			outcome{opm: 67356.7, idle: 393.1, active: 507, limits: verdict(true)},
			outcome{opm: 64203.0, idle: 391.0, active: 499, limits: verdict(false)},
		)
		dir := t.TempDir()
		b, err := s.do(t, dir, ofReport)
		require.NoError(t, err)
		assert.Equal(t, "run-1", b.Median)
		assert.False(t, b.Limits.Passed())
		assert.True(t, b.Runs[1].Limits.Passed())
		assert.Equal(t, result.Done, b.Status)
		assert.Equal(t, []float64{64973.7, 501.4, 393.1}, []float64{*b.OPM, *b.Active, *b.Idle})
		assert.InDelta(t, 65511.13, *b.RunsMean, .01)
		assert.InDelta(t, 4.814, *b.RunsSpread, .001)
		assert.InDelta(t, 4084.18, *b.RunsCI95, .01)
		want := []string{
			"0s restore",
			"8m0s run 1",
			"28m0s restore",
			"36m0s run 2",
			"56m0s restore",
			"1h4m0s run 3",
		}
		assert.Equal(t, want, s.told, "it went")
		read := summary(t, dir)
		assert.Equal(t, b.Runs, read.Runs)
		assert.Equal(t, *b.OPM, *read.OPM)
	})
}

// summary is what a directory has of a bench.
func summary(t *testing.T, dir string) result.Bench {
	t.Helper()
	b, err := result.ReadSummary[result.Bench](dir)
	require.NoError(t, err)
	return b
}

// TestEveryRunCounts: every run that reached its window counts, none is repeated, and a limit holds
// if it holds in all.
func TestEveryRunCounts(t *testing.T) {
	gone := outcome{err: errors.New("server gone")}
	noBackup := &store.Error{Op: "restore", Class: store.Config, Err: errors.New("no BACKUP")}
	full := outcome{err: result.OfRecord("write record",
		&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.ENOSPC})}
	noScript := outcome{
		err: &fs.PathError{Op: "fork/exec", Path: "restore.sh", Err: syscall.ENOENT},
	}
	judged := func(o outcome, ok bool) outcome {
		o.limits = result.Verdicts{
			{Limit: "order p95 < 1s", Unit: result.UnitSeconds, Measured: new(.5), OK: ok},
		}
		return o
	}
	at := func(opm float64) outcome { return judged(outcome{opm: opm}, true) }
	slow := judged(outcome{opm: 2}, false)
	aborted := judged(
		outcome{opm: 2, aborted: true},
		true,
	) // its window lies before what it was aborted for
	faulty := judged(outcome{opm: 2, fault: "audit"}, true)
	unsteady := judged(outcome{opm: 3, unsteady: true}, true)
	early := outcome{aborted: true, noWindow: true}
	for _, c := range []struct {
		why      string
		drop     bool
		outcomes []outcome
		counts   string // of each run: + or -
		opm      float64
		held     int // runs that hold the limit
		err      string
	}{
		{"a failed audit", false, []outcome{at(1), faulty, at(3)}, "+++", 2, 3, ""},
		{"unsteady runs", false, []outcome{at(1), unsteady, at(4)}, "+++", 3, 3, ""},
		{
			"unsteady runs that are dropped", true,
			[]outcome{at(1), unsteady, at(4)},
			"+-+", 2.5,
			3, "",
		},
		{"a run that fails", false, []outcome{at(1), gone, at(4)}, "+-+", 2.5, 2, ""},
		{
			"two failures in a row", false,
			[]outcome{at(1), gone, gone},
			"+--", 1, 1,
			"2 runs in a row failed, the last: server gone",
		},
		{
			"a failure that another try does not mend", false,
			[]outcome{at(1), {err: noBackup}},
			"+-", 1, 1,
			"restore: no BACKUP",
		},
		{
			"a record that cannot be written is no fault of the drives", false,
			[]outcome{at(1), full},
			"+-", 1, 1,
			"no space left",
		},
		{
			"a restore that cannot be started is one of its", false,
			[]outcome{at(1), noScript, at(4)},
			"+-+", 2.5, 2, "",
		},
		{
			"a limit that fails in a run that is not the median", false,
			[]outcome{at(5), slow, at(4)},
			"+++", 4, 2, "",
		},
		{"runs that a limit ended", false, []outcome{aborted, at(5), aborted}, "+++", 2, 1, ""},
		{
			"runs that a limit ended before their window", false,
			[]outcome{early, at(5), at(6)},
			"-++", 5.5, 2, "",
		},
		{"runs of zero orders", false, []outcome{at(0), at(0), at(0)}, "+++", 0, 3, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				setup := ofReport
				setup.DropUnsteady = c.drop
				b, err := newScript(c.outcomes...).do(t, t.TempDir(), setup)
				if c.err == "" {
					assert.NoError(t, err)
				} else {
					assert.ErrorContains(t, err, c.err)
				}
				counts := ""
				for _, r := range b.Runs {
					counts += map[bool]string{true: "+", false: "-"}[r.Counts]
				}
				assert.Equal(t, c.counts, counts, "runs count")
				assert.Equal(t, c.opm, *b.OPM)
				assert.Equal(t, c.held, b.Limits[0].Held, "runs that hold the limit: %+v", b.Limits)
			})
		})
	}
}

func TestBenchGoesOnAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := newScript(outcome{opm: 10}, outcome{opm: 20}, outcome{opm: 30})
		crash := s.bench(dir)
		run := crash.Run
		crash.Run = func(dir string, place runs.Place) (result.Summary, error) {
			if place.Number == 2 {
				panic("crash")
			}
			return run(dir, place)
		}
		func() {
			defer func() { recover() }()
			crash.Summary = ofReport
			crash.Do(t.Context(), t.Context())
		}()
		left := summary(t, dir)
		require.Equal(t, result.Running, left.Status)
		require.Len(t, left.Runs, 2, "want one run done and one begun")
		require.Equal(t, 10., *left.OPM)
		b, err := s.do(t, dir, left)
		require.NoError(t, err)
		require.Len(t, b.Runs, 4)
		assert.Equal(t, result.Interrupted, b.Runs[1].Status)
		assert.Equal(t, 20., *b.OPM)
		assert.Equal(t, result.Done, b.Status)
		want := []string{"run-1", "run-2-again", "run-3"}
		assert.Equal(t, want, s.dirs, "the directory of the run that crashed is left alone")
	})
}

func TestBenchStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop, cancel := context.WithTimeout(
			t.Context(),
			30*time.Minute,
		) // while it settles for the second run
		defer cancel()
		dir := t.TempDir()
		p := newScript(outcome{opm: 10}, outcome{opm: 20}).bench(dir)
		p.Summary = ofReport
		require.ErrorIs(t, p.Do(t.Context(), stop), driver.ErrStopped)
		b := p.Summary
		require.Equal(t, result.Interrupted, b.Status)
		require.Len(t, b.Runs, 2)
		require.False(t, b.Runs[1].Counts)
		read := summary(t, dir)
		assert.Equal(t, 10., *read.OPM)
		assert.Equal(t, result.Interrupted, read.Status)
	})
}

// TestBenchAuditsLater (E2): a run whose audit was cut off is audited when the bench goes on, and
// not made again.
func TestBenchAuditsLater(t *testing.T) {
	for why, passes := range map[string]bool{"it passes": true, "it fails": false, "aborted": true} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			setup := ofReport
			setup.Spec.Runs = 2
			first := outcome{opm: 10, err: driver.ErrStopped, aborted: why == "aborted"}
			s := newScript(first, outcome{opm: 20}, outcome{opm: 30})
			b, err := s.do(t, dir, setup)
			require.ErrorIs(t, err, driver.ErrStopped)
			require.Equal(t, result.Interrupted, b.Status)
			require.Len(t, b.Runs, 1)
			require.True(t, b.Runs[0].Unaudited && !b.Runs[0].Counts, "%+v", b.Runs)
			record := result.Summary{Happened: result.Happened{Status: result.Done}}
			if first.aborted {
				record.Status = result.Aborted
			}
			require.NoError(t, result.MakeDir(filepath.Join(dir, "run-1")))
			require.NoError(t, result.SaveSummary(filepath.Join(dir, "run-1"), record))
			p := s.bench(dir)
			p.Summary = b
			p.Verify = func(string) (result.Summary, error) {
				audited := finished(10)
				audited.Status = record.Status
				audited.Audit = &result.Audit{Passed: passes}
				return audited, nil
			}
			err = p.Do(t.Context(), t.Context())
			b = p.Summary
			require.NoError(t, err, why)
			require.Len(t, b.Runs, 2, why)
			failed := result.FindingOf(b.Runs[0].Findings, result.AuditFailed)
			require.Equal(t, passes, failed == nil, why)
			require.Equal(t, record.Status, b.Runs[0].Status, why)
			require.EqualValues(t, 15, *b.OPM, why)
		})
	}
}

// TestOtherVersion: what one version of ds2 began is not continued by another, whose methods may
// differ (A9).
func TestOtherVersion(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	require.NoError(
		t,
		result.SaveSummary(filepath.Join(dir, "a"), result.Bench{Status: result.Running}),
	)
	left := result.Experiment{
		KitVersion: "v1", Status: result.Running,
		Configurations: []result.Configuration{{Name: "a", Dir: "a"}},
	}
	require.NoError(t, result.SaveSummary(dir, left))
	now := left
	for _, now.KitVersion = range []string{"v1", "v2"} {
		_, resumed, err := TakeUpExperiment(dir, now, false)
		assert.Equal(t, now.KitVersion == "v1", resumed && err == nil, now.KitVersion)
	}
}
