package tune

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A store is a simulated one: exact OPM and order latency, in seconds, of every number of users.
type store func(users int) (opm, latency float64)

// network is a closed network of queues with the given demands in seconds, solved exactly by mean value analysis
// (Reiser and Lavenberg, Mean-value analysis of closed multichain queuing networks, 1980). Its OPM rises to a plateau
// of 60 over the largest demand.
func network(demands ...float64) store {
	return func(users int) (float64, float64) {
		queue := make([]float64, len(demands))
		var latency float64
		for n := 1; n <= users; n++ {
			latency = 0
			for i, d := range demands {
				latency += d * (1 + queue[i])
			}
			for i, d := range demands {
				queue[i] = float64(n) / latency * d * (1 + queue[i])
			}
		}
		return 60 * float64(users) / latency, latency
	}
}

// thrashing is a store that follows Gunther's universal scalability law: its OPM has a peak at sqrt((1-sigma)/kappa)
// users and falls beyond it.
func thrashing(one, sigma, kappa float64) store {
	return func(users int) (float64, float64) {
		n := float64(users)
		opm := one * n / (1 + sigma*(n-1) + kappa*n*(n-1))
		return opm, 60 * n / opm
	}
}

// optimum is the highest OPM within the limit on latency, over all numbers of users.
func (s store) optimum(limit float64) (most float64) {
	for users := 1; users <= 512; users++ {
		if opm, latency := s(users); latency <= limit {
			most = max(most, opm)
		}
	}
	return most
}

// run makes the trials of a search, within a limit on latency.
func (s store) run(limit float64) func(context.Context, Step) (Trial, error) {
	return func(_ context.Context, step Step) (Trial, error) {
		opm, latency := s(step.Threads)
		return Trial{OPM: opm, P95: latency, Strain: latency / limit, Passed: latency <= limit}, nil
	}
}

// measured is the store with noise, relative standard deviations of 1 % on OPM and 3 % on latency, and counts its runs.
func (s store) measured(seed uint64, runs *int) store {
	random := rand.New(rand.NewPCG(seed, 1))
	return func(users int) (float64, float64) {
		*runs++
		opm, latency := s(users)
		return opm * (1 + 0.01*random.NormFloat64()), latency * (1 + 0.03*random.NormFloat64())
	}
}

// TestSearch holds the found number of users against the true optimum of simulated stores, for many seeds: its true
// OPM may lie below the optimum of a limit tighter by the noise, by Gain and a resolution of a sixteenth of the users;
// its true latency may lie above the limit by the noise.
func TestSearch(t *testing.T) {
	none := math.Inf(1)
	three, four := network(0.010, 0.004, 0.002), network(0.010, 0.008, 0.008, 0.008)
	twelve := network(slices.Repeat([]float64{0.001}, 12)...)
	peak := thrashing(1000, 0.02, 0.00095)
	for _, c := range []struct {
		why           string
		store         store
		limit         float64
		start         int
		golden, steps int // runs on average at most; 0: not tried
	}{
		{"a limit long before the plateau", four, 0.060, 16, 11, 12},
		{"a limit on the way to it", four, 0.100, 16, 9, 11},
		{"a limit at 25 users", twelve, 0.035, 16, 11, 23},
		{"a limit at 150 users, on the plateau", twelve, 0.160, 16, 15, 15},
		{"a limit below the peak", peak, 0.100, 16, 12, 16},
		{"a limit for one user", network(0.010, 0.010), 0.025, 16, 12, 12},
		{"a limit far above the plateau", three, 0.500, 16, 15, 12},
		{"a plateau without limits", three, none, 16, 15, 12},
		{"a plateau that begins slowly", twelve, none, 16, 16, 16},
		{"a peak at 32 users", peak, none, 16, 12, 12},

		{"from one user, a limit on the way to the plateau", four, 0.100, 1, 12, 14},
		{"from one user, a limit at 150 users", twelve, 0.160, 1, 19, 20},
		{"from one user, a plateau", twelve, none, 1, 20, 19},
		{"from one user, a peak", peak, none, 1, 16, 16},
		{"from far above, a limit below the peak", peak, 0.100, 64, 13, 17},
		{"from far above, a peak", peak, none, 64, 12, 0}, // steps do not go down where no limit makes them
	} {
		for method, most := range map[Method]int{Golden: c.golden, Steps: c.steps} {
			if most > 0 {
				mean := c.store.search(t, Config{method, c.start, 512, 0.02}, c.limit)
				assert.LessOrEqual(t, mean, float64(most), "%s: runs of %s on average", c.why, method)
			}
		}
	}
}

// search searches with many seeds, checks what is found, and gives the number of runs on average.
func (s store) search(t *testing.T, config Config, limit float64) (runs float64) {
	t.Helper()
	const seeds, noise = 200, 1.06
	optimum, total := s.optimum(limit/noise), 0
	for seed := range uint64(seeds) {
		found, err := Search(t.Context(), config, s.measured(seed, &total).run(limit))
		require.NoError(t, err)
		require.NotNil(t, found.Best, "%s, seed %d: found nothing: %s", config.Method, seed, found.Why)
		opm, latency := s(found.Best.Threads)
		assert.True(t, opm >= 0.92*optimum && latency <= limit*noise,
			"%s, seed %d: %d users with %.0f opm of %.0f, latency %.3f s of %.3f; %s", config.Method, seed,
			found.Best.Threads, opm, optimum, latency, limit, found.Why)
		assert.True(t, found.Best.confirmed() && found.Best.Passed(), "%s, seed %d: the best was not confirmed: %+v",
			config.Method, seed, found.Best)
	}
	return float64(total) / seeds
}

func TestSearchWithoutNoise(t *testing.T) {
	plateau := network(0.010, 0.004, 0.002)
	for _, c := range []struct {
		why     string
		limit   float64
		config  Config
		threads int // of the best; 0: none
		reason  string
	}{
		{"the most users within the limit", 0.040, Config{Golden, 1, 512, 0.001}, 3, "the limits fail with 4 users"},
		{"the same step by step", 0.040, Config{Steps, 16, 512, 0.001}, 3, "the limits fail with 4 users"},
		// 5 are within the gain too, but not by the law that smooths the trials.
		{"fewer users where more bring little", 0.500, Config{Golden, 1, 512, 0.02}, 8,
			"more users than 8 bring less than 2% more"},
		{"as many as are allowed", 0.500, Config{Golden, 1, 3, 0.02}, 3, "no more users than 3 were allowed"},
		{"a limit nobody keeps", 0.001, Config{Golden, 16, 512, 0.02}, 0, "the limits fail already with 1 user"},
	} {
		got, err := Search(t.Context(), c.config, plateau.run(c.limit))
		require.NoError(t, err, c.why)
		require.Equal(t, c.reason, got.Why, c.why)
		require.Equal(t, c.threads, cmp.Or(got.Best, &Point{}).Threads, c.why)
	}
}

// TestSearchBearsAnOutlier: one trial in which something else kept the machine busy must not end a search, whenever it
// comes.
func TestSearchBearsAnOutlier(t *testing.T) {
	plateau := network(0.010, 0.004, 0.002)
	for _, method := range []Method{Golden, Steps} {
		for bad := 1; bad <= 12; bad++ {
			runs := 0
			spoilt := store(func(users int) (float64, float64) {
				opm, latency := plateau(users)
				if runs++; runs == bad {
					return opm / 10, 10 * latency
				}
				return opm, latency
			})
			found, err := Search(t.Context(), Config{method, 1, 512, 0.02}, spoilt.run(0.045))
			require.NoError(t, err)
			require.NotNil(t, found.Best, "%s with trial %d spoilt: %s", method, bad, found.Why)
			assert.Contains(t, []int{3, 4}, found.Best.Threads, "%s with trial %d spoilt: %s", method, bad, found.Why)
		}
	}
}

func TestSearchKeepsTheCurveOnError(t *testing.T) {
	broken := errors.New("disk on fire")
	runs := 0
	got, err := Search(t.Context(), Config{Golden, 1, 512, 0.02}, func(context.Context, Step) (Trial, error) {
		if runs++; runs == 2 {
			return Trial{}, broken
		}
		return Trial{OPM: 1, Passed: true}, nil
	})
	require.ErrorIs(t, err, broken)
	require.Len(t, got.Curve, 1)
	require.Nil(t, got.Best)
}

// TestKnee: the saturation point of a network is the sum of its demands over the largest.
func TestKnee(t *testing.T) {
	s := network(0.010, 0.004, 0.002)
	var curve Curve
	for _, users := range []int{64, 1, 4, 16} { // in any order
		opm, _ := s(users)
		curve = curve.with(Trial{Threads: users, OPM: opm})
	}
	assert.InDelta(t, 1.6, curve.Knee(), 0.01)
	assert.EqualValues(t, 0, (Curve{}).Knee(), "knee of nothing at")
}

func TestPoint(t *testing.T) {
	p := Point{4, []Trial{{OPM: 3, Passed: true}, {OPM: 1}, {OPM: 2, P95: 0.5, Passed: true}}}
	assert.True(t, p.Passed())
	assert.Equal(t, p.Trials[2], p.Median())
	p.Trials = p.Trials[:2]
	assert.False(t, p.Passed(), "one of two")
	assert.EqualValues(t, 1, p.OPM(), "the lower of two")
}

// TestLeft: at the end of a search nothing is left, and from its middle on the number of trials that are still to come
// is known about.
func TestLeft(t *testing.T) {
	for _, c := range []struct {
		why   string
		store store
		limit float64
		start int
	}{
		{"a limit on the way to a plateau", network(0.010, 0.008, 0.008, 0.008), 0.100, 1},
		{"a limit at 150 users", network(slices.Repeat([]float64{0.001}, 12)...), 0.160, 1},
		{"a plateau", network(0.010, 0.004, 0.002), math.Inf(1), 1},
		{"a limit below the peak", thrashing(1000, 0.02, 0.00095), 0.100, 16},
	} {
		config := Config{Golden, c.start, 512, 0.02}
		off, n := 0., 0
		for seed := range uint64(50) {
			var trials []Trial
			runs := 0
			run := c.store.measured(seed, &runs).run(c.limit)
			found, err := Search(t.Context(), config, func(ctx context.Context, step Step) (Trial, error) {
				trial, err := run(ctx, step)
				trial.Threads, trial.Confirm = step.Threads, step.Confirm
				trials = append(trials, trial)
				require.NotEqual(t, "", step.Why, "%s: no reason for trial %d", c.why, len(trials))
				return trial, err
			})
			require.NoError(t, err)
			require.NotEmpty(t, found.Curve[0].Trials[0].Why)
			assert.Equal(t, 0, config.Left(NewCurve(trials)), c.why)
			for made := (len(trials) + 1) / 2; made < len(trials); made++ {
				left := config.Left(NewCurve(trials[:made]))
				off += math.Abs(float64(left - (len(trials) - made)))
				n++
				sound := left >= 1 && left <= 2*len(trials)
				assert.True(t, sound, "%s: %d left after %d of %d", c.why, left, made, len(trials))
			}
		}
		assert.LessOrEqual(t, off/float64(n), 3., c.why)
	}
}
