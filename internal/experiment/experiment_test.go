package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/driver"
	"ds2/internal/measure"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/store"
	"ds2/internal/upkeep"
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
		Told: func(format string, args ...any) {
			s.told = append(s.told, fmt.Sprintf(format, args...))
		},
	}
	for _, name := range names {
		c := &Bench{
			Name: name, Dir: filepath.Join(s.dir, name), Planned: time.Minute,
			Told: func(format string, args ...any) {
				if text := fmt.Sprintf(format, args...); strings.Contains(text, ": running (") {
					s.running = append(s.running, text)
				}
			},
			Run: func(_ string, place runs.Place) (result.Summary, error) {
				time.Sleep(time.Minute)
				s.places = append(s.places, place)
				m := made{name, place.Number}
				s.runs = append(s.runs, m)
				opm, err := s.opm(m)
				if s.after != nil {
					s.after(m)
				}
				if err != nil {
					return result.Summary{}, err
				}
				return finished(opm), nil
			},
		}
		var err error
		if c.Summary, err = result.ReadSummary[result.Bench](c.Dir); err != nil {
			require.NoError(t, result.MakeDir(c.Dir))
		}
		c.Summary.Spec.Runs = blocks
		e.Benches = append(e.Benches, c)
	}
	return e
}

// blocks are those in which a configuration has a run that counts.
func (bench *Bench) blocks() (all []int) {
	for _, r := range bench.Summary.Runs {
		if r.Counts {
			all = append(all, r.Block)
		}
	}
	return all
}

// whole asserts that configurations came to their end.
func whole(t *testing.T, all ...*Bench) {
	t.Helper()
	for _, c := range all {
		assert.True(t, compare.Enough(c.Summary), c.Name)
		assert.Equal(t, result.Done, c.Summary.Status, c.Name)
	}
}

// noisy is an OPM with a drift of 2 % a run; that of ssd is 15 % higher.
func noisy(m made) (float64, error) {
	opm := 40_000 * math.Pow(1.02, float64(m.number)) * (1 + .001*float64(m.number*7%5))
	if m.configuration == "ssd" {
		opm *= 1.15
	}
	return opm, nil
}

// TestExperimentRunsInBlocks: each block has every configuration once, and the records say which
// run was in which.
func TestExperimentRunsInBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{dir: t.TempDir(), opm: noisy}
		e := s.experiment(t, 5, "hdd", "ssd", "tape")
		require.NoError(t, e.Do(t.Context(), t.Context()))
		require.Len(t, s.runs, 15)
		whole(t, e.Benches...)
		for i, m := range s.runs {
			require.Equal(t, made{e.Benches[e.Orders[i/3][i%3]].Name, i + 1}, m)
		}
		for _, c := range e.Benches {
			b := summary(t, c.Dir)
			require.Equal(t, result.Done, b.Status)
			require.Equal(t, 5, b.Spec.Runs)
			for i, r := range b.Runs {
				assert.Equal(t, i+1, r.Block)
				assert.Equal(t, 60., r.Took)
				place := runs.Place{Configuration: c.Name, Block: r.Block, Number: r.Number}
				assert.Equal(t, place, s.places[r.Number-1])
			}
		}
		const first = `^run-1: running \(block 1 of 5, run 1 of 15, at least 15m left, until `
		assert.Regexp(t, first, s.running[0])
		assert.Contains(t, s.running[14], ", run 15 of 15, about 1m left, until ")
	})
}

// TestExperimentEndsWhenItKnows: with until it ends as soon as the interval is narrow, and asks for
// no more runs.
func TestExperimentEndsWhenItKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{dir: t.TempDir(), opm: noisy}
		do := func(until float64) result.Bench {
			e := s.experiment(t, 9, "hdd", "ssd")
			e.Until = until
			require.NoError(t, e.Do(t.Context(), t.Context()))
			return e.Benches[0].Summary
		}
		do(2)
		assert.Len(t, s.runs, 12, "one block more than an interval takes")
		b := do(2)
		assert.Len(t, s.runs, 12, "the same again")
		assert.Equal(t, 6, b.Spec.Runs)
		assert.True(t, compare.Enough(b))
		b = do(1e-9)
		assert.Len(t, s.runs, 18, "until something else")
		assert.Equal(t, []measure.Look{{Blocks: 6, Done: true}}, b.Looks)
	})
}

// TestExperimentLeavesOut: a configuration that keeps failing is left out, and the others go on;
// when the experiment is continued it takes part again, from the block on that is due then.
func TestExperimentLeavesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the server is gone")
		stop, end := context.WithCancel(t.Context())
		s := &simulation{dir: t.TempDir()}
		failed := 0
		s.opm = func(m made) (float64, error) {
			switch {
			case m.configuration == "hdd" && m.number > 6:
				failed++
				return 0, gone
			case failed == failuresInARow && m.number > 12:
				end()
				return 0, driver.ErrStopped
			}
			return noisy(m)
		}
		e := s.experiment(t, 5, "hdd", "ssd", "tape")
		require.ErrorIs(t, e.Do(t.Context(), stop), driver.ErrStopped, "stopped")
		b := e.Benches[0].Summary
		assert.Equal(t, result.Failed, b.Status)
		assert.Regexp(t, "2 runs in a row.*"+gone.Error(), b.Error)
		assert.Contains(
			t,
			strings.Join(s.told, "\n"),
			"configuration hdd is left out: 2 runs in a row",
		)
		s.opm = noisy
		e = s.experiment(t, 5, "hdd", "ssd", "tape")
		require.NoError(t, e.Do(t.Context(), t.Context()))
		made := len(s.runs)
		e = s.experiment(t, 5, "hdd", "ssd", "tape")
		require.NoError(t, e.Do(t.Context(), t.Context()), "asked for once more, when it is done")
		assert.Len(t, s.runs, made)
		assert.Equal(t, []int{1, 2, 5}, e.Benches[0].blocks(), "hdd has runs in the blocks")
		whole(t, e.Benches[1:]...)
	})
}

// TestLeftOutStaysLeftOut: a configuration that was left out is not done when the same experiment
// is asked for again and no run is made, whether it failed in the last blocks or the others were
// known well enough without it.
func TestLeftOutStaysLeftOut(t *testing.T) {
	for _, c := range []struct {
		why    string
		blocks int
		until  float64
		from   int // number of the run from which on tape fails
	}{
		{"in the last blocks", 3, 0, 4},
		{"before the others were known", 9, 2, 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			gone := errors.New("the server is gone")
			s := &simulation{dir: t.TempDir(), opm: func(m made) (float64, error) {
				if m.configuration == "tape" && m.number >= c.from {
					return 0, gone
				}
				return noisy(m)
			}}
			made := 0
			for range 2 {
				e := s.experiment(t, c.blocks, "hdd", "ssd", "tape")
				e.Until = c.until
				require.NoError(t, e.Do(t.Context(), t.Context()), c.why)
				whole(t, e.Benches[:2]...)
				tape := e.Benches[2].Summary
				assert.Equal(t, result.Failed, tape.Status, c.why)
				assert.Contains(t, tape.Error, gone.Error(), c.why)
				if made > 0 {
					assert.Len(t, s.runs, made, c.why)
				}
				made = len(s.runs)
			}
		})
	}
}

// TestTakingUpOnlyReads: what another ds2 is writing in the directory stays until whoever goes on
// there holds the databases.
func TestTakingUpOnlyReads(t *testing.T) {
	dir := t.TempDir()
	begun := result.Experiment{
		Status:         result.Running,
		Configurations: []result.Configuration{{Name: "hdd", Dir: "hdd"}},
	}
	require.NoError(t, result.SaveSummary(dir, begun))
	bench := filepath.Join(dir, "hdd")
	require.NoError(t, os.Mkdir(bench, 0o700))
	require.NoError(t, result.SaveSummary(bench, result.Bench{Status: result.Running}))
	writing := filepath.Join(bench, result.SummaryFile+".ABCDEFGHIJKLMNOPQRSTUVWXYZ.partial")
	require.NoError(t, os.WriteFile(writing, nil, 0o600))
	_, resumed, err := TakeUpExperiment(dir, begun, false)
	require.NoError(t, err)
	require.True(t, resumed)
	require.NoError(t, Check(bench, result.ReadSummary[result.Bench]))
	require.FileExists(t, writing)
	require.NoError(t, ClearUp(dir))
	require.NoFileExists(t, writing)
}

// TestExperimentWaitsForRecovery: a server that recovers for three minutes has failed one run, the
// one that it broke off, which is not made again; the next waits for it, and ends when the
// experiment is stopped.
func TestExperimentWaitsForRecovery(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var back time.Time
			ready := func(context.Context) error {
				if time.Now().Before(back) {
					return &store.Error{
						Op: "connect", Class: store.Connection, Code: "57P03", NotYet: true,
						Err: errors.New("the server is recovering"),
					}
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
			for _, c := range e.Benches {
				c.Ready = ready
			}
			err := e.Do(t.Context(), stop)
			if stopped {
				assert.ErrorIs(t, err, driver.ErrStopped, "stopped while it waits")
				assert.False(t, time.Now().After(back))
				return
			}
			require.NoError(t, err)
			whole(t, e.Benches...)
			assert.Len(t, s.runs, 4, "runs: the one that failed is not made again")
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
		require.ErrorIs(t, e.Do(t.Context(), t.Context()), gone)
		require.Len(t, s.runs, 4)
		// One that cannot begin is left out, the other goes on.
		s.opm = noisy
		e = s.experiment(t, 5, "hdd", "ssd")
		e.Benches[0].Unready = gone
		var looked []int
		e.Looked = func(block int) { looked = append(looked, block) }
		require.NoError(t, e.Do(t.Context(), t.Context()))
		assert.Equal(t, []int{3, 4}, looked, "blocks whose verdict is interim")
		require.Len(t, s.runs, 4+3, "those that failed are not made again")
		require.Equal(t, gone.Error(), e.Benches[0].Summary.Error)
	})
}

// TestExperimentGoesOnAnywhere cuts an experiment off after each of its runs, those for practice
// included: it ends with the same runs. Where it has a result then, the record says that it could
// be seen.
func TestExperimentGoesOnAnywhere(t *testing.T) {
	for cut := 1; cut < 16; cut++ {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := &simulation{dir: t.TempDir(), opm: noisy}
			s.after = func(m made) {
				if m.number == cut {
					cancel()
				}
			}
			withPractice(s.experiment(t, 7, "hdd", "ssd"), 1).Do(ctx, ctx)
			s.after = nil
			e := withPractice(s.experiment(t, 7, "hdd", "ssd"), 1)
			require.NoError(t, e.Do(t.Context(), t.Context()))
			assert.LessOrEqual(t, len(s.runs), 17, "cut off after run %d", cut)
			var seen []measure.Look
			if blocks := (cut - 3) / 2; blocks >= measure.MinBlocks {
				seen = []measure.Look{{Blocks: blocks}}
			}
			for _, c := range e.Benches {
				assert.Equal(
					t,
					[]int{1, 2, 3, 4, 5, 6, 7},
					c.blocks(),
					"cut off after run %d: %s",
					cut,
					c.Name,
				)
				assert.Equal(t, "practice-1", c.Summary.Runs[0].Dir)
				assert.Equal(
					t,
					seen,
					c.Summary.Looks,
					"cut off after run %d: it could be seen after",
					cut,
				)
			}
		})
	}
}

func withPractice(e Experiment, runs int) Experiment {
	for _, c := range e.Benches {
		c.Summary.Practice = runs
	}
	return e
}

// TestPractice: before the first block, or in sequence before the runs of each, every configuration
// runs for practice. That takes part in the time left and in the record, and in nothing that is
// concluded.
func TestPractice(t *testing.T) {
	for _, c := range []struct {
		sequence bool
		want     []made
	}{
		{false, []made{{"hdd", 1}, {"ssd", 2}, {"hdd", 3}, {"ssd", 4}, {"hdd", 5}, {"ssd", 6}, {"ssd", 7}, {"hdd", 8}}},
		{true, []made{{"hdd", 1}, {"hdd", 2}, {"hdd", 3}, {"hdd", 4}, {"ssd", 1}, {"ssd", 2}, {"ssd", 3}, {"ssd", 4}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			opm := func(m made) (float64, error) { return 40_000 * float64(min(m.number, 5)), nil }
			s := &simulation{dir: t.TempDir(), opm: opm}
			e := withPractice(s.experiment(t, 2, "hdd", "ssd"), 2)
			e.Sequence = c.sequence
			require.NoError(t, e.Do(t.Context(), t.Context()))
			require.Equal(t, c.want, s.runs)
			const told = "(practice, not counted, run 1 of 8, at least 8m left, until "
			require.Contains(t, s.running[0], "practice-1: running "+told)
			b := summary(t, e.Benches[0].Dir)
			require.Len(t, b.Runs, 4)
			require.Len(t, compare.Counted(b), 2)
			require.Equal(t, 2, b.Practice)
			require.True(t, compare.Enough(b))
			for i, r := range b.Runs {
				require.Equal(t, []string{"practice-1", "practice-2", "run-1", "run-2"}[i], r.Dir)
				require.Equal(t, i < 2, r.Practice)
				require.NotEqual(t, r.Practice, r.Counts)
				require.Equal(t, c.sequence || r.Practice, r.Block == 0, "a run in a block")
			}
			made, all, left := e.Left()
			require.Equal(t, []int{8, 8}, []int{made, all})
			require.Zero(t, left)
		})
	}
}

// TestSearchEndsOnError: what fails before a run is the search's error, and no trial.
func TestSearchEndsOnError(t *testing.T) {
	s := Search{
		Dir:    t.TempDir(),
		Config: result.SearchConfig{Start: 1, Max: 512, Confirm: 3},
		Restore: upkeep.Restore{
			Command: "echo the disk is on fire; exit 1", Output: t.Output(),
			Progress: func(string, progress.Unit) (progress.Tell, func()) {
				return progress.Ignore, func() {}
			},
		},
	}
	var r result.Search
	err := s.search(runs.Stop{Soft: t.Context(), Hard: t.Context()}, &r)
	require.ErrorContains(t, err, "run restore command")
	require.Empty(t, r.Trials)
}
