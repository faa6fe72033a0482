package simulate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/tune"
)

// store is a simulated one: exact OPM and order latency, in seconds, of every number of users.
type store struct {
	name  string
	of    func(users int) (opm, latency float64)
	limit float64
}

// network is a closed network of queues, solved exactly by mean value analysis (Reiser and Lavenberg, 1980).
func network(demands ...float64) func(int) (float64, float64) {
	return func(users int) (float64, float64) {
		queue := make([]float64, len(demands))
		latency := 0.
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

func byRate(opm func(n float64) float64) func(int) (float64, float64) {
	return func(users int) (float64, float64) {
		rate := opm(float64(users))
		return rate, 60 * float64(users) / rate
	}
}

func peaked(n float64) float64 { return 1000 * n / (1 + .02*(n-1) + .00095*n*(n-1)) }

func stores() []store {
	twelve := network(slices.Repeat([]float64{0.001}, 12)...)
	none := math.Inf(1)
	return []store{
		{"a plateau from 5 users on", network(0.010, 0.004, 0.002), none},
		{"a plateau that begins slowly", twelve, none},
		{"a peak at 32 users", byRate(peaked), none},
		{"a knee at 20 users, 2 % less with each more", byRate(func(n float64) float64 {
			return 1000 * min(n, 20) * math.Pow(.98, max(0, n-20))
		}), none},
		{"a cliff beyond 24 users", byRate(func(n float64) float64 {
			if n > 24 {
				return 400 * 24
			}
			return 1000 * n / (1 + .02*(n-1))
		}), none},
		{"a limit at 8 users", network(0.010, 0.008, 0.008, 0.008), .100},
		{"a limit at 149 users", twelve, .160},
		{"a limit at 18 users, below a peak", byRate(peaked), .100},
	}
}

// TestTune is of searches on stores of which the best is known.
func TestTune(t *testing.T) {
	made := simulated(t, "tune", "store", "at 3 %: within 5 % of the best", "at 5 %", "at 8 %", "trials, mean at 3 %",
		"at most 14", "says too much, at 3 / 5 / 8 %")
	for _, s := range stores() {
		s.of = remembered(s.of)
		best := 0.
		for n := 1; n <= 512; n++ {
			if opm, latency := s.of(n); latency <= s.limit {
				best = max(best, opm)
			}
		}
		row, luck, trials, few, n := []string{s.name}, "", 0., 0., float64(*replicates)
		for _, noise := range []float64{.03, .05, .08} {
			random, near, says, found := randomOf(fmt.Sprint(s.name, noise)), 0., 0., 0.
			for range *replicates {
				made := 0
				try := func(_ context.Context, step tune.Step) (tune.Trial, error) {
					made++
					opm, latency := s.of(step.Threads)
					opm, latency = opm*(1+noise*random.NormFloat64()), latency*(1+noise*random.NormFloat64())
					return tune.Trial{
						OPM: opm, P95: latency, Strain: latency / s.limit, Passed: latency <= s.limit,
					}, nil
				}
				config := tune.Config{Method: tune.Golden, Start: 16, Max: 512, Gain: .02}
				r, err := tune.Search(t.Context(), config, try)
				require.NoError(t, err)
				if noise == .03 {
					trials += float64(made) / n
					if made <= 14 {
						few += 1 / n
					}
				}
				if r.Best == nil {
					continue
				}
				truth, _ := s.of(r.Best.Threads)
				if truth >= .95*best {
					near++
				}
				says, found = says+r.Best.OPM()/truth-1, found+1
			}
			row = append(row, share(near/n))
			assert.True(t, noise > .03 || within(near/n, .90, 1) && within(few, .90, 1),
				"%s: %s within 5 %% of the best, %s in at most 14 trials, not .900", s.name, row[1], share(few))
			luck += fmt.Sprintf("%+.1f / ", 100*says/found)
			chance := 3 * .7 * noise / math.Sqrt(found) // the median of three has .67 of the scatter
			assert.LessOrEqual(t, math.Abs(says/found), .003+chance, "%s at %g: the result is off", s.name, noise)
		}
		made.row(append(row, fmt.Sprintf("%.1f", trials), share(few), luck[:len(luck)-3]+" %")...)
	}
}

// remembered computes each number of users once.
func remembered(of func(int) (float64, float64)) func(int) (float64, float64) {
	type figures struct{ opm, latency float64 }
	known := map[int]figures{}
	return func(n int) (float64, float64) {
		f, ok := known[n]
		if !ok {
			f.opm, f.latency = of(n)
			known[n] = f
		}
		return f.opm, f.latency
	}
}
