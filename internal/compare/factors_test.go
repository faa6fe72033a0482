package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// factorial is an experiment of two arrays at 32 and 128 users, which complete half as much again;
// the second array is 2 % faster, and by so many percent more at 128 users.
func factorial(more float64) (all []Configuration) {
	random := rand.New(rand.NewPCG(1, 5))
	for _, array := range []string{"hdd", "ssd"} {
		for _, users := range []string{"32", "128"} {
			c := Configuration{Name: array + ", threads " + users, Of: array}
			c.Experiment = "e"
			c.Status = result.Done
			c.Factors = []result.Setting{{Flag: "threads", Value: users}}
			all = append(all, c)
		}
	}
	run := 0
	for block, order := range measure.RandomBlocks(random, len(all), 6) {
		for _, i := range order {
			value := 10_000 * math.Exp(.003*random.NormFloat64()+.004*float64(run))
			if i%2 == 1 {
				value *= 1.5
			}
			if i >= 2 {
				value *= 1.02
			}
			if i == 3 {
				value *= 1 + more/100
			}
			run++
			all[i].Runs = append(all[i].Runs, result.BenchRun{
				Status: result.Done, Block: block + 1, Number: run,
				Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: value}),
			})
		}
	}
	for i := range all {
		Runs(&all[i].Bench)
	}
	return all
}

// TestEqualFactors: of two arrays 2 % apart at 32 and 128 users it is the 2 % that counts, not the
// users'; and it is said where the arrays differ more at one number of users than at the other.
func TestEqualFactors(t *testing.T) {
	equal := AtEqualFactors(factorial(0), 1)
	require.Len(t, equal, 1)
	e := equal[0]
	assert.Equal(t, []string{"hdd", "ssd"}, []string{e.Against, e.Name})
	assert.InDelta(t, 2, e.Percent, .5)
	assert.True(t, *e.Significant && *e.High < 4, "%s", e.Text())
	assert.Empty(t, e.Dependence())
	assert.Equal(
		t,
		"The difference of ssd from hdd depends on threads: it is +2.0 % at threads 32, +7.0 % at threads 128",
		AtEqualFactors(factorial(5), 1)[0].Dependence(),
	)
	assert.Nil(t, AtEqualFactors(factorial(0)[:3], 1), "a combination is missing")
	alone := factorial(0)
	for i := range alone {
		alone[i].Of = ""
	}
	assert.Nil(t, AtEqualFactors(alone, 1), "without configurations in the file")
}
