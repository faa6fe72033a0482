package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/conclude"
	"ds2/internal/driver"
	"ds2/internal/limit"
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
	limits            []limit.Verdict
	unsteady          bool
	err               error
}

func newScript(outcomes ...outcome) *script { return &script{outcomes: outcomes, start: time.Now()} }

func (s *script) note(what string) {
	s.told = append(s.told, fmt.Sprintf("%s %s", time.Since(s.start).Round(time.Second), what))
}

func (s *script) bench(dir string) Bench {
	return Bench{
		Dir:     dir,
		Restore: func(context.Context) error { s.note("restore"); return nil },
		Run: func(_ context.Context, dir string, place runs.Place) (result.Summary, []string, error) {
			s.note(fmt.Sprintf("run %d", place.Number))
			time.Sleep(20 * time.Minute)
			o := s.outcomes[0]
			s.outcomes = s.outcomes[1:]
			s.dirs = append(s.dirs, dir)
			r := result.Summary{
				Happened:   result.Happened{Status: result.Done},
				Conclusion: result.Conclusion{Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: o.opm}), Limits: o.limits, Windows: []measure.Window{{OPM: o.opm, Steady: measure.Steadiness{Verdict: !o.unsteady, Why: "not steady"}}}},
			}
			if o.active > 0 {
				r.Power = &result.Power{Idle: &o.idle, Active: &o.active}
				r.Figure.PerWatt = r.Power.PerWatt(o.opm)
			}
			var faults []string
			if o.fault != "" {
				faults = append(faults, o.fault)
			}
			return r, faults, o.err
		},
		Told: func(string, ...any) {},
	}
}

// ofReport is the setup of the storage report.
var ofReport = result.Bench{Setup: result.Setup{Runs: 3, Settle: 480, Idle: 120, Cooldown: 60}}

// TestBenchJudgesTheMedian: a failed limit is no reason to repeat a run, and the verdict is that on the median.
func TestBenchJudgesTheMedian(t *testing.T) {
	verdict := func(ok bool) []limit.Verdict { return []limit.Verdict{{Limit: "opm > 100", OK: ok}} }
	synctest.Test(t, func(t *testing.T) {
		s := newScript(outcome{opm: 101, limits: verdict(true)}, outcome{opm: 98, limits: verdict(false)}, outcome{opm: 99, limits: verdict(false)})
		b, err := s.bench(t.TempDir()).Do(t.Context(), t.Context(), ofReport)
		require.NoError(t, err)
		if len(b.Runs) != 3 || b.Median != "run-3" || limit.Passed(b.Limits) || !limit.Passed(b.Runs[0].Limits) {
			t.Errorf("%d runs, median %s, limits %+v, runs %+v", len(b.Runs), b.Median, b.Limits, b.Runs)
		}
	})
}

// TestBenchOfTheStorageReport makes the report's runs of its SSDs, with the idle and active watts that its table gives
// for the run with the median OPM, and others around them.
func TestBenchOfTheStorageReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(outcome{opm: 64973.7, idle: 395.0, active: 501.4}, outcome{opm: 67356.7, idle: 393.1, active: 507}, outcome{opm: 64203.0, idle: 391.0, active: 499})
		dir := t.TempDir()
		b, err := s.bench(dir).Do(t.Context(), t.Context(), ofReport)
		require.NoError(t, err)
		if *b.OPM != 64973.7 || b.Median != "run-1" || *b.Active != 501.4 || *b.Idle != 393.1 || b.Status != result.Done {
			t.Errorf("the report's runs come to %v OPM (%s), %v W idle, %v W active", *b.OPM, b.Median, *b.Idle, *b.Active)
		}
		if math.Abs(*b.RunsMean-65511.13) > .01 || math.Abs(*b.RunsSpread-4.814) > .001 || math.Abs(*b.RunsCI95-4084.18) > .01 {
			t.Errorf("mean %v ± %v, spread %v %%", *b.RunsMean, *b.RunsCI95, *b.RunsSpread)
		}
		want := []string{"0s restore", "8m0s run 1", "28m0s restore", "36m0s run 2", "56m0s restore", "1h4m0s run 3"}
		assert.Equal(t, want, s.told, "it went")
		read, err := result.ReadSummary[result.Bench](dir)
		if err != nil || !reflect.DeepEqual(read.Runs, b.Runs) || *read.OPM != *b.OPM {
			t.Errorf("read back %+v, %v", read, err)
		}
	})
}

func TestFaultyRunsAreRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		keep     bool
		drop     bool
		outcomes []outcome
		counts   string // of each run: + or -
		opm      float64
		err      string
	}{
		"failed audits and unsteady runs": {
			false, false, []outcome{{opm: 1}, {opm: 2, fault: "audit"}, {opm: 3, unsteady: true}, {opm: 4}}, "+-++", 3, "",
		},
		"unsteady runs that are dropped": {
			false, true, []outcome{{opm: 1}, {opm: 2, fault: "audit"}, {opm: 3, unsteady: true}, {opm: 4}, {opm: 5}}, "+--++", 4, "",
		},
		"a run that fails": {
			false, false, []outcome{{opm: 1}, {err: errors.New("server gone")}, {opm: 4}, {opm: 5}}, "+-++", 4, "",
		},
		"unless told otherwise": {
			true, false, []outcome{{opm: 1}, {opm: 2, fault: "audit"}, {opm: 3, unsteady: true}}, "+++", 2, "",
		},
		"two failures in a row": {
			false, false, []outcome{{opm: 1}, {err: errors.New("server gone")}, {err: errors.New("server gone")}}, "+--", 1,
			"2 runs in a row ended with an error and without a result, the last: server gone",
		},
		"a failure that another try does not mend": {
			false, false, []outcome{{opm: 1}, {err: &store.Error{Op: "restore", Class: store.Config, Err: errors.New("no BACKUP")}}}, "+-", 1, "restore: no BACKUP",
		},
		"too many faulty": {
			false, false, []outcome{{opm: 1}, {fault: "audit"}, {fault: "audit"}, {fault: "audit"}, {fault: "audit"}}, "+----", 1, "too few runs count: 1 of 3, after 3 repeats",
		},
		"an even number that counts has no run in the middle": {
			false, false, []outcome{{opm: 7}, {err: errors.New("server gone")}, {opm: 6}, {err: errors.New("server gone")}, {err: errors.New("server gone")}}, "+-+--", 6.5, "server gone",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				setup := ofReport
				setup.Setup.KeepFaulty, setup.Setup.DropUnsteady = c.keep, c.drop
				b, err := newScript(c.outcomes...).bench(t.TempDir()).Do(t.Context(), t.Context(), setup)
				if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				counts := ""
				for _, r := range b.Runs {
					counts += map[bool]string{true: "+", false: "-"}[r.Counts]
				}
				if counts != c.counts || *b.OPM != c.opm {
					t.Errorf("runs count %s and come to %v OPM, want %s and %v", counts, *b.OPM, c.counts, c.opm)
				}
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
		crash.Run = func(ctx context.Context, dir string, place runs.Place) (result.Summary, []string, error) {
			if place.Number == 2 {
				panic("crash")
			}
			return run(ctx, dir, place)
		}
		func() {
			defer func() { recover() }()
			crash.Do(t.Context(), t.Context(), ofReport)
		}()
		left, err := result.ReadSummary[result.Bench](dir)
		if err != nil || left.Status != result.Running || len(left.Runs) != 2 || *left.OPM != 10 {
			t.Fatalf("the crash left %+v, %v; want one run done and one begun", left, err)
		}
		b, err := s.bench(dir).Do(t.Context(), t.Context(), left)
		require.NoError(t, err)
		if len(b.Runs) != 4 || b.Runs[1].Status != result.Interrupted || *b.OPM != 20 || b.Status != result.Done {
			t.Errorf("after the crash %+v", b)
		}
		if want := []string{"run-1", "run-3", "run-4"}; !reflect.DeepEqual(bases(s.dirs), want) {
			t.Errorf("runs in %v, want %v: the directory of the run that crashed is left alone", s.dirs, want)
		}
	})
}

func bases(paths []string) (names []string) {
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}

func TestBenchStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop, cancel := context.WithTimeout(t.Context(), 30*time.Minute) // while it settles for the second run
		defer cancel()
		dir := t.TempDir()
		b, err := newScript(outcome{opm: 10}, outcome{opm: 20}).bench(dir).Do(t.Context(), stop, ofReport)
		if !errors.Is(err, driver.ErrStopped) || b.Status != result.Interrupted || len(b.Runs) != 2 || b.Runs[1].Counts {
			t.Errorf("stopped while settling: %+v, %v", b, err)
		}
		if read, err := result.ReadSummary[result.Bench](dir); err != nil || *read.OPM != 10 || read.Status != result.Interrupted {
			t.Errorf("on disk: %+v, %v", read, err)
		}
	})
}

func TestDifferences(t *testing.T) {
	a := result.Setup{Threads: 32, Runs: 3, Parameters: result.Parameters{RunTime: 1200}}
	b := a
	assert.Nil(t, differences(a, b), "equal setups differ in")
	b.Runs, b.KeepFaulty, b.DropUnsteady = 5, true, true
	if got := differences(a, b); got != nil {
		t.Errorf("what only judges may change, but %v may not", got)
	}
	b.Threads, b.Parameters.RunTime = 16, 60
	assert.Equal(t, []string{"threads", "run_time_s"}, differences(a, b), "setups differ in")
	b = a
	b.Parameters.Own, b.Parameters.InWords = result.Block(`{"mix": 3}`), []result.Said{{Name: "mix", Value: "3"}}
	assert.Equal(t, []string{"mix"}, differences(a, b), "setups whose workload is another differ in")
}

// TestJudgingMayChangeOnResume: a bench that ended with too few runs has enough of them once faulty runs count, and one
// that is done goes on once its unsteady runs are dropped.
func TestJudgingMayChangeOnResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		setup := ofReport
		setup.Setup.Runs = 1
		s := newScript(outcome{opm: 1, fault: "audit"}, outcome{opm: 2, fault: "audit"})
		b, err := s.bench(dir).Do(t.Context(), t.Context(), setup)
		require.ErrorIs(t, err, ErrTooFew, "two faulty runs")
		b.Setup.KeepFaulty = true
		if b, err = s.bench(dir).Do(t.Context(), t.Context(), b); err != nil || b.Status != result.Done || len(b.Runs) != 2 || *b.OPM != 1.5 {
			t.Errorf("with --keep-faulty: %+v, %v", b, err)
		}

		s = newScript(outcome{opm: 5, unsteady: true}, outcome{opm: 6})
		if b, err = s.bench(dir).Do(t.Context(), t.Context(), setup); err != nil || *b.OPM != 5 || b.Runs[0].Unsteady == "" {
			t.Fatalf("an unsteady run: %+v, %v", b, err)
		}
		b.Setup.DropUnsteady = true
		conclude.Bench(&b)
		assert.True(t, !conclude.Enough(b) && b.OPM == nil, "a dropped run still counts: %+v", b)
		if b, err = s.bench(dir).Do(t.Context(), t.Context(), b); err != nil || *b.OPM != 6 || len(b.Runs) != 2 {
			t.Errorf("with --drop-unsteady: %+v, %v", b, err)
		}
	})
}

// TestBenchAuditsLater (E2): a run whose audit was cut off is audited when the bench goes on, and not made again.
func TestBenchAuditsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			why     string
			found   []string
			runs    int
			verdict float64
		}{
			{"it passes", nil, 2, 15},
			{"it fails", []string{"the audit failed"}, 3, 25},
		} {
			dir := t.TempDir()
			setup := ofReport
			setup.Setup.Runs = 2
			s := newScript(outcome{opm: 10, err: driver.ErrStopped}, outcome{opm: 20}, outcome{opm: 30})
			b, err := s.bench(dir).Do(t.Context(), t.Context(), setup)
			if !errors.Is(err, driver.ErrStopped) || len(b.Runs) != 1 || !b.Runs[0].Unaudited || b.Runs[0].Counts || b.Status != result.Interrupted {
				t.Fatalf("%s: interrupted: %v, %+v", tt.why, err, b)
			}
			p := s.bench(dir)
			p.Verify = func(string) ([]string, error) { return tt.found, nil }
			if b, err = p.Do(t.Context(), t.Context(), b); err != nil || len(b.Runs) != tt.runs || b.Runs[0].Counts != (tt.found == nil) || *b.OPM != tt.verdict {
				t.Errorf("%s: continued: %v, %+v", tt.why, err, b)
			}
		}
	})
}
