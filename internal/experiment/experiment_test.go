package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/conclude"
	"ds2/internal/driver"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/store"
)

// made is a run of a simulated experiment.
type made struct {
	configuration string
	number        int
}

// simulation makes the runs of an experiment, each of a minute, by what opm gives for a run.
type simulation struct {
	dir     string
	runs    []made
	places  []runs.Place // that the runs were told
	told    []string     // of the experiment
	running []string     // of its runs, as each begins
	opm     func(m made) (float64, error)
	after   func(m made) // is called when a run has ended
}

func (s *simulation) experiment(t *testing.T, blocks int, names ...string) Experiment {
	e := Experiment{
		Orders: measure.RandomBlocks(rand.New(rand.NewPCG(3, 0)), len(names), blocks),
		Least:  measure.MinBlocks,
		Told:   func(format string, args ...any) { s.told = append(s.told, fmt.Sprintf(format, args...)) },
	}
	for _, name := range names {
		c := &Configuration{Name: name, Procedure: Bench{
			Dir: filepath.Join(s.dir, name), Planned: time.Minute,
			Told: func(format string, args ...any) {
				if text := fmt.Sprintf(format, args...); strings.Contains(text, ": running (") {
					s.running = append(s.running, text)
				}
			},
			Run: func(_ context.Context, _ string, place runs.Place) (result.Summary, []string, error) {
				time.Sleep(time.Minute)
				s.places = append(s.places, place)
				m := made{name, place.Number}
				s.runs = append(s.runs, m)
				opm, err := s.opm(m)
				if s.after != nil {
					s.after(m)
				}
				if err != nil {
					return result.Summary{}, nil, err
				}
				return result.Summary{
					Happened:   result.Happened{Status: result.Done},
					Conclusion: result.Conclusion{Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: opm}), Windows: []measure.Window{{OPM: opm, Steady: measure.Steadiness{Verdict: true}}}},
				}, nil, nil
			},
		}}
		if b, err := result.ReadSummary[result.Bench](c.Procedure.Dir); err == nil {
			c.Summary = b
		} else if err := result.MakeDir(c.Procedure.Dir); err != nil {
			t.Fatal(err)
		}
		c.Summary.Setup.Runs = blocks
		e.Configurations = append(e.Configurations, c)
	}
	return e
}

// noisy is an OPM with a drift of 2 % a run; that of ssd is 15 % higher.
func noisy(m made) (float64, error) {
	opm := 40_000 * math.Pow(1.02, float64(m.number)) * (1 + .001*float64(m.number*7%5))
	if m.configuration == "ssd" {
		opm *= 1.15
	}
	return opm, nil
}

// TestExperimentRunsInBlocks: each block has every configuration once, and the records say which run was in which.
func TestExperimentRunsInBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{dir: t.TempDir(), opm: noisy}
		e := s.experiment(t, 5, "hdd", "ssd", "tape")
		require.NoError(t, e.Do(t.Context(), t.Context()))
		require.Len(t, s.runs, 15)
		for i, m := range s.runs {
			if want := e.Configurations[e.Orders[i/3][i%3]].Name; m.configuration != want || m.number != i+1 {
				t.Errorf("run %d is number %d of %s, want %s", i+1, m.number, m.configuration, want)
			}
		}
		for _, c := range e.Configurations {
			b, err := result.ReadSummary[result.Bench](c.Procedure.Dir)
			if err != nil || b.Status != result.Done || b.Setup.Runs != 5 || !conclude.Enough(b) {
				t.Errorf("%s: %+v, %v", c.Name, b, err)
			}
			for i, r := range b.Runs {
				if r.Block != i+1 || r.Took != 60 || s.places[r.Number-1] != (runs.Place{Configuration: c.Name, Block: r.Block, Number: r.Number}) {
					t.Errorf("%s: run %+v", c.Name, r)
				}
			}
		}
		if first, last := s.running[0], s.running[14]; !strings.HasPrefix(first, "run-1: running (block 1 of 5, configuration ") || !strings.Contains(first, ", run 1 of 15, at least 15m left, until ") || !strings.Contains(last, ", run 15 of 15, about 1m left, until ") {
			t.Errorf("told %q and %q", first, last)
		}
	})
}

// TestExperimentEndsWhenItKnows: with until it ends as soon as the interval is narrow, and asks for no more runs.
func TestExperimentEndsWhenItKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{dir: t.TempDir(), opm: noisy}
		e := s.experiment(t, 9, "hdd", "ssd")
		e.Until = 2
		require.NoError(t, e.Do(t.Context(), t.Context()))
		if len(s.runs) != 12 { // one block more than an interval takes
			t.Errorf("%d runs", len(s.runs))
		}
		again := s.experiment(t, 9, "hdd", "ssd")
		again.Until = 2
		if err := again.Do(t.Context(), t.Context()); err != nil || len(s.runs) != 12 {
			t.Errorf("the same again: %v, %d runs", err, len(s.runs))
		}
		if b := again.Configurations[0].Summary; b.Setup.Runs != 6 || !conclude.Enough(b) {
			t.Errorf("%d runs are asked for", b.Setup.Runs)
		}
		wider := s.experiment(t, 9, "hdd", "ssd")
		wider.Until = 1e-9
		if err := wider.Do(t.Context(), t.Context()); err != nil || len(s.runs) != 18 {
			t.Errorf("until something else: %v, %d runs", err, len(s.runs))
		}
		if b := wider.Configurations[0].Summary; !slices.Equal(b.Looks, []measure.Look{{Blocks: 6, Done: true}}) {
			t.Errorf("the result could be seen after %+v", b.Looks)
		}
	})
}

// TestExperimentLeavesOut: a configuration that keeps failing is left out, and the others go on; when the experiment is
// continued it takes part again, from the block on that is due then.
func TestExperimentLeavesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the server is gone")
		stop, end := context.WithCancel(t.Context())
		s := &simulation{dir: t.TempDir()}
		s.opm = func(m made) (float64, error) {
			if m.configuration == "hdd" && m.number > 6 {
				return 0, gone
			}
			if m.number == 12 {
				end()
				return 0, driver.ErrStopped
			}
			return noisy(m)
		}
		e := s.experiment(t, 5, "hdd", "ssd", "tape")
		require.ErrorIs(t, e.Do(t.Context(), stop), driver.ErrStopped, "stopped")
		if b := e.Configurations[0].Summary; b.Status != result.Failed || !strings.Contains(b.Error, "2 runs in a row") || !strings.Contains(b.Error, gone.Error()) {
			t.Errorf("hdd: %s, %s", b.Status, b.Error)
		}
		if !slices.ContainsFunc(s.told, func(text string) bool {
			return strings.HasPrefix(text, "configuration hdd is left out: 2 runs in a row")
		}) {
			t.Errorf("told %q", s.told)
		}
		s.opm = noisy
		e = s.experiment(t, 5, "hdd", "ssd", "tape")
		require.NoError(t, e.Do(t.Context(), t.Context()))
		var blocks []int
		for _, r := range e.Configurations[0].Summary.Runs {
			if r.Counts {
				blocks = append(blocks, r.Block)
			}
		}
		assert.Equal(t, []int{1, 2, 4, 5}, blocks, "hdd has runs in the blocks")
		for _, c := range e.Configurations[1:] {
			if !conclude.Enough(c.Summary) || c.Summary.Status != result.Done {
				t.Errorf("%s: %+v", c.Name, c.Summary)
			}
		}
	})
}

// TestExperimentWaitsForRecovery: a server that recovers for three minutes has failed one run, the one that it broke
// off; the next waits for it, and ends when the experiment is stopped.
func TestExperimentWaitsForRecovery(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var back time.Time
			starting := &store.Error{Op: "connect", Class: store.Connection, Code: "57P03", NotYet: true, Err: errors.New("the server is recovering")}
			ready := func(context.Context) error {
				if time.Now().Before(back) {
					return starting
				}
				return nil
			}
			stop, end := context.WithCancel(t.Context())
			defer end()
			s := &simulation{dir: t.TempDir()}
			s.opm = func(m made) (float64, error) {
				if m.number == 3 {
					back = time.Now().Add(3 * time.Minute)
					if stopped {
						time.AfterFunc(time.Minute, end)
					}
					return 0, errors.New("the server is gone")
				}
				if err := ready(t.Context()); err != nil {
					return 0, err
				}
				return noisy(m)
			}
			e := s.experiment(t, 2, "hdd", "ssd")
			for _, c := range e.Configurations {
				c.Procedure.Ready = ready
			}
			err := e.Do(t.Context(), stop)
			if stopped {
				if !errors.Is(err, driver.ErrStopped) || time.Now().After(back) {
					t.Errorf("stopped while it waits: %v", err)
				}
				return
			}
			require.NoError(t, err)
			for _, c := range e.Configurations {
				if !conclude.Enough(c.Summary) || c.Summary.Status != result.Done {
					t.Errorf("%s: %+v", c.Name, c.Summary)
				}
			}
			assert.Len(t, s.runs, 5, "runs")
		})
	}
}

// TestExperimentWithoutConfigurations: where all are left out, the error is theirs.
func TestExperimentWithoutConfigurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the server is gone")
		s := &simulation{dir: t.TempDir(), opm: func(made) (float64, error) { return 0, gone }}
		e := s.experiment(t, 5, "hdd", "ssd")
		e.Looked = func(block int) { t.Errorf("block %d was looked at, where nothing ran", block) }
		if err := e.Do(t.Context(), t.Context()); !errors.Is(err, gone) || len(s.runs) != 4 {
			t.Errorf("%v after %d runs", err, len(s.runs))
		}
		// One that cannot begin is left out, the other goes on.
		s.opm = noisy
		e = s.experiment(t, 5, "hdd", "ssd")
		e.Configurations[0].Unready = gone
		if err := e.Do(t.Context(), t.Context()); err != nil || len(s.runs) != 4+5 || e.Configurations[0].Summary.Error != gone.Error() {
			t.Errorf("%v after %d runs, %+v", err, len(s.runs), e.Configurations[0].Summary)
		}
	})
}

// TestExperimentGoesOnAnywhere cuts an experiment off after each of its runs, those for practice included: it ends with
// the same runs.
func TestExperimentGoesOnAnywhere(t *testing.T) {
	for cut := 1; cut < 12; cut++ {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := &simulation{dir: t.TempDir(), opm: noisy}
			s.after = func(m made) {
				if m.number == cut {
					cancel()
				}
			}
			withPractice(s.experiment(t, 5, "hdd", "ssd"), 1).Do(ctx, ctx)
			s.after = nil
			e := withPractice(s.experiment(t, 5, "hdd", "ssd"), 1)
			require.NoError(t, e.Do(t.Context(), t.Context()))
			for _, c := range e.Configurations {
				var blocks []int
				for _, r := range c.Summary.Runs {
					if r.Counts {
						blocks = append(blocks, r.Block)
					}
				}
				if !slices.Equal(blocks, []int{1, 2, 3, 4, 5}) || len(s.runs) > 13 || c.Summary.Runs[0].Dir != "practice-1" {
					t.Errorf("cut off after run %d: %s has runs in the blocks %v of %d runs", cut, c.Name, blocks, len(s.runs))
				}
			}
		})
	}
}

// TestLookBeforeTheEnd: where an experiment is interrupted, its result can be seen.
func TestLookBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &simulation{dir: t.TempDir(), opm: noisy, after: func(m made) {
			if m.number == 13 {
				cancel()
			}
		}}
		s.experiment(t, 7, "hdd", "ssd").Do(ctx, ctx)
		s.after = nil
		e := s.experiment(t, 7, "hdd", "ssd")
		err := e.Do(t.Context(), t.Context())
		if b := e.Configurations[1].Summary; err != nil || !slices.Equal(b.Looks, []measure.Look{{Blocks: 6}}) {
			t.Errorf("%v, it could be seen after %+v", err, b.Looks)
		}
	})
}

func withPractice(e Experiment, runs int) Experiment {
	for _, c := range e.Configurations {
		c.Summary.Setup.Practice = runs
	}
	return e
}

// TestPractice: before the first block, or in sequence before the runs of each, every configuration runs for practice.
// That takes part in the time left and in the record, and in nothing that is concluded.
func TestPractice(t *testing.T) {
	for _, c := range []struct {
		sequence bool
		want     []made
		told     string
	}{
		{false, []made{{"hdd", 1}, {"ssd", 2}, {"hdd", 3}, {"ssd", 4}, {"hdd", 5}, {"ssd", 6}, {"ssd", 7}, {"hdd", 8}},
			"practice-1: running (practice, which counts for nothing, configuration hdd, run 1 of 8, at least 8m left, until "},
		{true, []made{{"hdd", 1}, {"hdd", 2}, {"hdd", 3}, {"hdd", 4}, {"ssd", 1}, {"ssd", 2}, {"ssd", 3}, {"ssd", 4}},
			"practice-1: running (practice, which counts for nothing, run 1 of 4, at least 4m left, until "},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &simulation{dir: t.TempDir(), opm: func(m made) (float64, error) { return 40_000 * float64(min(m.number, 5)), nil }}
			e := withPractice(s.experiment(t, 2, "hdd", "ssd"), 2)
			e.Sequence = c.sequence
			require.NoError(t, e.Do(t.Context(), t.Context()))
			if !slices.Equal(s.runs, c.want) || !strings.HasPrefix(s.running[0], c.told) {
				t.Errorf("runs %v, told %q", s.runs, s.running[0])
			}
			b, err := result.ReadSummary[result.Bench](e.Configurations[0].Procedure.Dir)
			if err != nil || len(b.Runs) != 4 || len(conclude.Counted(b)) != 2 || b.Setup.Practice != 2 || !conclude.Enough(b) {
				t.Fatalf("%+v, %v", b, err)
			}
			for i, r := range b.Runs {
				want := []string{"practice-1", "practice-2", "run-1", "run-2"}[i]
				if r.Dir != want || r.Practice != (i < 2) || r.Counts == r.Practice || r.Practice && r.Block != 0 {
					t.Errorf("%+v, want %s", r, want)
				}
			}
			if made, all, left := e.Left(); made != 8 || all != 8 || left != 0 {
				t.Errorf("%d of %d runs are made, %v left", made, all, left)
			}
		})
	}
}

// TestSequence: all runs of one configuration, then those of the next, without blocks.
func TestSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{dir: t.TempDir(), opm: noisy}
		e := s.experiment(t, 3, "hdd", "ssd")
		e.Sequence = true
		require.NoError(t, e.Do(t.Context(), t.Context()))
		want := []made{{"hdd", 1}, {"hdd", 2}, {"hdd", 3}, {"ssd", 1}, {"ssd", 2}, {"ssd", 3}}
		if !slices.Equal(s.runs, want) || e.Configurations[1].Summary.Runs[0].Block != 0 {
			t.Errorf("runs %v, %+v", s.runs, e.Configurations[1].Summary.Runs)
		}
	})
}
