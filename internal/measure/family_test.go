package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFamily holds the factors of simultaneous intervals to the tables: Dunnett's of 1964 ("New
// Tables for Multiple Comparisons with a Control", Biometrics 20), and those of the studentized
// range over the root of two.
func TestFamily(t *testing.T) {
	for _, c := range []struct {
		stated  Family
		degrees float64
		want    float64
	}{
		{WithFirst(2), 10, 2.228}, // Student's
		{EveryTwo(2), 10, 2.228},
		{Alone, 10, 2.228},
		{WithFirst(3), 20, 2.38},
		{WithFirst(4), 10, 2.76},
		{WithFirst(10), 60, 2.77},
		{EveryTwo(3), 10, 3.877 / math.Sqrt2},
		{EveryTwo(4), 10, 4.327 / math.Sqrt2},
		{EveryTwo(8), 20, 4.768 / math.Sqrt2},
		{WithFirst(4).apart(), 10, 2.866}, // Student's at 1 − .95^(1/3)
	} {
		got := c.stated.critical(.05, c.degrees)
		assert.InDelta(t, c.want, got, .006, "%+v, %v degrees of freedom", c.stated, c.degrees)
		assert.InDelta(t, .05, c.stated.chance(got, c.degrees), 1e-5, "%+v: its chance", c.stated)
	}
	assert.True(t, math.IsNaN(WithFirst(4).critical(.05, 0)), "without degrees of freedom")
}

// TestFamilies has experiments with equal configurations, some of which vary more than others: in
// at most one in twenty any is told apart from the first, and in a few more where the variations
// are unlike.
func TestFamilies(t *testing.T) {
	const experiments = 400
	for _, c := range []struct {
		configurations, blocks int
		first, last            float64 // times as noisy as the others
		most                   float64
	}{{3, 6, 1, 1, .05}, {4, 6, 1, 1, .05}, {8, 6, 1, 1, .05}, {8, 5, 1, 5, .05}, {8, 6, 2, 1, .07}} {
		random := rand.New(rand.NewPCG(3, 9))
		names := make([]string, c.configurations)
		noise := make([]float64, c.configurations)
		for i := range names {
			names[i], noise[i] = fmt.Sprint("c", i), .02
		}
		noise[0] *= c.first
		noise[len(noise)-1] *= c.last
		found := 0.
		for range experiments {
			var all []RunFigure
			for block, order := range RandomBlocks(random, len(names), c.blocks) {
				for _, i := range order {
					value := math.Exp(noise[i]*random.NormFloat64() + .02*float64(len(all)))
					all = append(all, RunFigure{block, len(all), names[i], value})
				}
			}
			for _, d := range Differences(names, all, WithFirst(len(names)), 1) {
				if d.Base == names[0] && d.Change.Significant() {
					found++
					break
				}
			}
		}
		chance := 3 * math.Sqrt(.05*.95/experiments)
		assert.LessOrEqual(t, found/experiments, c.most+chance, "%+v", c)
	}
}
