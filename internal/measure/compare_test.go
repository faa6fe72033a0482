package measure

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The storage report's runs (WORKLOAD.md section 6). The figures expected of them were computed apart, with Student's
// distribution integrated numerically.
var (
	ssd = []float64{64973.7, 67356.7, 64203.0}
	hdd = []float64{48172.0, 46586.3, 48142.0}
)

func TestMeanCI95(t *testing.T) {
	mean, half := MeanCI95(ssd)
	assert.InDelta(t, 65511.133, mean, .01)
	assert.InDelta(t, 4084.184, half, .01)
	mean, half = MeanCI95([]float64{5})
	assert.True(t, mean == 5 && math.IsNaN(half), "mean of one value %v ± %v, want 5 without an interval", mean, half)
}

func TestCompare(t *testing.T) {
	c := Compare(hdd, ssd)
	assert.InDeltaSlice(t, []float64{37.5199, 30.5781, 44.8308}, []float64{c.Percent, c.Low, c.High}, .001)
	assert.InDelta(t, 9.791e-5, c.P, 1e-7)
	assert.True(t, c.Significant())
	back := Compare(ssd, hdd)
	assert.InDelta(t, 1, (1+c.Percent/100)*(1+back.Percent/100), 1e-9, "the other way round")
	assert.InDelta(t, 1, (1+c.Low/100)*(1+back.High/100), 1e-9, "the other way round")
	same := Compare(ssd, []float64{65000, 64500, 66500})
	assert.True(t, !same.Significant() && same.P >= .2, "runs of one array against each other: %+v", same)
	one := Compare(hdd[:1], ssd)
	assert.True(t, !one.Significant() && math.IsNaN(one.P), "a single run: %+v", one)
}
