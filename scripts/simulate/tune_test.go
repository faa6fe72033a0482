package simulate

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/tune"
)

// store is a simulated one: exact OPM and order latency, in seconds, of every number of users.
type store struct {
	name  string
	of    func(users int) (opm, latency float64)
	limit float64
}

// network is a closed network of queues, solved exactly by mean value analysis (Reiser and
// Lavenberg, 1980).
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

func peaked(users int) (float64, float64) {
	n := float64(users)
	rate := 1000 * n / (1 + .02*(n-1) + .00095*n*(n-1))
	return rate, 60 * n / rate
}

func stores() []store {
	return []store{
		{"a limit at 8 users", network(0.010, 0.008, 0.008, 0.008), .100},
		{"a limit at 18 users, below a peak", peaked, .100},
		{"a limit at 149 users", network(slices.Repeat([]float64{0.001}, 12)...), .160},
	}
}

// TestTune is of searches on stores of which the largest number of users within a limit is known.
func TestTune(t *testing.T) {
	made := simulated(t, "tune", "store", "users found, of the largest, at 3 %", "at 5 %", "at 8 %",
		"true latency at most 3 % above the limit, at 3 / 5 / 8 %", "trials, mean at 3 %",
		"result above the truth, at 3 / 5 / 8 %")
	for _, s := range stores() {
		s.of = remembered(s.of)
		most := 0
		for n := 1; n <= 512; n++ {
			if _, latency := s.of(n); latency <= s.limit {
				most = n
			}
		}
		row := []string{s.name}
		keeps := ""
		luck := ""
		trials := 0.
		for _, noise := range []float64{.03, .05, .08} {
			random := randomOf(fmt.Sprint(s.name, noise))
			found := 0.
			holds := 0.
			says := 0.
			nothing := 0.
			n := float64(*replicates)
			for range *replicates {
				config := result.SearchConfig{Start: 16, Max: 512, Confirm: 3}
				var made []result.Trial
				var confirmed []float64
				var verdicts []result.Verdicts
				limits, err := limit.ParseAll([]string{fmt.Sprintf("order mean <= %.9fs", s.limit)})
				require.NoError(t, err)
				next, best := tune.Next(config, nil)
				for ; next.Threads > 0; next, best = tune.Next(config, made) {
					opm, latency := s.of(next.Threads)
					opm = opm * (1 + noise*random.NormFloat64())
					latency = latency * (1 + noise*random.NormFloat64())
					next.Passed = latency <= s.limit
					if !next.Confirm || len(result.Confirming(made, next.Threads)) == 0 {
						confirmed = nil
						verdicts = nil
					}
					if next.Confirm {
						confirmed = append(confirmed, opm)
						verdicts = append(verdicts, limit.Judge(limits, func(limit.Metric) (limit.Figure, bool) {
							return limit.Figure{Value: latency}, true
						}))
					}
					if next.Passed && len(verdicts) == config.Confirm {
						next.Passed = limit.Together(verdicts).Passed()
						next.CannotTell = !next.Passed
					}
					made = append(made, next)
				}
				if best.Users == 0 {
					nothing += 1 / n
					continue
				}
				opm, latency := s.of(best.Users)
				found += float64(best.Users) / float64(most) / n
				if latency <= 1.03*s.limit {
					holds += 1 / n
				}
				says += (measure.Median(confirmed)/opm - 1) / n
				if noise == .03 {
					trials += float64(len(made)) / n
				}
			}
			row = append(row, share(found))
			keeps += share(holds) + " / "
			luck += fmt.Sprintf("%+.1f / ", 100*says)
			made.hold("nothing is found", nothing, .01, "%s at %g", s.name, noise)
			if noise == .03 {
				made.hold("the limit is missed", 1-holds, .05, "%s", s.name)
				assert.GreaterOrEqual(t, found, .85, "%s: of the users that the limit allows", s.name)
			}
			chance := deviations * .7 * noise / math.Sqrt(n) // the median of three has .67 of the variation
			assert.LessOrEqual(
				t,
				math.Abs(says),
				.003+chance,
				"%s at %g: the result is off",
				s.name,
				noise,
			)
		}
		made.row(
			append(
				row,
				keeps[:len(keeps)-3],
				fmt.Sprintf("%.1f", trials),
				luck[:len(luck)-3]+" %",
			)...)
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
