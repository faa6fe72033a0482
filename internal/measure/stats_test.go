package measure

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSlope(t *testing.T) {
	for _, c := range []struct {
		why    string
		values []float64
		slope  float64
		n      int
	}{
		{"none", nil, 0, 0},
		{"one", []float64{7}, 0, 1},
		{"a line", []float64{1, 3, 5, 7}, 2, 4},
		{"a line with a gap", []float64{1, math.NaN(), 5, 7}, 2, 3},
		{"level", []float64{4, 4, 4}, 0, 3},
		{"up and down", []float64{1, 2, 2, 1}, 0, 4},
	} {
		slope, n := Slope(c.values)
		assert.InDelta(t, c.slope, slope, 1e-12, c.why)
		assert.Equal(t, c.n, n, c.why)
	}
}

// TestCorrelation checks against figures worked out by hand: of 1 2 3 4 5 and 2 1 4 3 5, r is 0.8
// and t is 4/√3, with p 0.104.
func TestCorrelation(t *testing.T) {
	for _, c := range []struct{ xs, ys, want []float64 }{
		{[]float64{1, 2, 3, 4, 5}, []float64{2, 1, 4, 3, 5}, []float64{.8, .1041}},
		{[]float64{1, 2, 3, 4}, []float64{-2, -4, -6, -8}, []float64{-1, 0}},
		// without variance
		{[]float64{1, 1, 1}, []float64{1, 2, 3}, []float64{math.NaN(), math.NaN()}},
	} {
		r, p := Correlation(c.xs, c.ys)
		assert.InDeltaSlice(t, c.want, []float64{r, p}, 5e-5, "%v and %v", c.xs, c.ys)
	}
}

// TestStudent checks against a table of Student's t, and that nothing is said without degrees of
// freedom.
func TestStudent(t *testing.T) {
	for degrees, want := range map[float64]float64{1: 12.706, 4: 2.776, 30: 2.042, 1000: 1.962} {
		assert.InDelta(t, want, Student(.975, degrees), 5e-4, "%g degrees", degrees)
		assert.InDelta(
			t,
			.05,
			twoSided(Student(.975, degrees), degrees),
			1e-9,
			"%g degrees",
			degrees,
		)
	}
	for _, degrees := range []float64{0, -1, math.NaN()} {
		assert.True(
			t,
			math.IsNaN(Student(.975, degrees)) && math.IsNaN(twoSided(2, degrees)),
			"%g degrees",
			degrees,
		)
	}
}

func TestSignificance(t *testing.T) {
	for p, want := range map[float64]string{
		0.0104:  "p = 0.01, not significant at 0.01",
		0.00998: "p = 0.00998, significant at 0.01",
		0.0001:  "p = 0.0001, significant at 0.01",
		0.0097:  "p = 0.0097, significant at 0.01",
		1:       "p = 1, not significant at 0.01",
	} {
		assert.Equal(t, want, Significance(p, 0.01), "Significance(%v)", p)
	}
}

// TestPower: more blocks show less, and what a change could have shown agrees with how many more it
// takes.
func TestPower(t *testing.T) {
	six := Smallest(2, 2, 6, false)
	assert.InDelta(t, 4.5, six, .3)
	assert.Less(t, Smallest(2, 2, 9, false), six)
	assert.Greater(t, Smallest(2, 2, 6, true), six)
	assert.Less(t, Smallest(2, 4, 6, false), six)
}

// The storage report's runs (WORKLOAD.md section 6). The figures expected of them were computed
// apart, with Student's distribution integrated numerically.
var (
	ssd = []float64{64973.7, 67356.7, 64203.0}
	hdd = []float64{48172.0, 46586.3, 48142.0}
)

func TestMeanCI95(t *testing.T) {
	mean, half := MeanCI95(ssd)
	assert.InDelta(t, 65511.133, mean, .01)
	assert.InDelta(t, 4084.184, half, .01)
	mean, half = MeanCI95([]float64{5})
	assert.True(
		t,
		mean == 5 && math.IsNaN(half),
		"mean of one value %v ± %v, want 5 without an interval",
		mean,
		half,
	)
}

func TestCompare(t *testing.T) {
	c := Compare(hdd, ssd, Alone)
	assert.InDeltaSlice(
		t,
		[]float64{37.5199, 30.5781, 44.8308},
		[]float64{c.Percent, c.Low, c.High},
		.001,
	)
	assert.InDelta(t, 9.791e-5, c.P, 1e-7)
	assert.True(t, c.Significant())
	back := Compare(ssd, hdd, Alone)
	assert.InDelta(t, 1, (1+c.Percent/100)*(1+back.Percent/100), 1e-9, "the other way round")
	assert.InDelta(t, 1, (1+c.Low/100)*(1+back.High/100), 1e-9, "the other way round")
	same := Compare(ssd, []float64{65000, 64500, 66500}, Alone)
	assert.True(
		t,
		!same.Significant() && same.P >= .2,
		"runs of one array against each other: %+v",
		same,
	)
	one := Compare(hdd[:1], ssd, Alone)
	assert.True(t, !one.Significant() && math.IsNaN(one.P), "a single run: %+v", one)
}

// TestParts: the parts of a window are whole cycles where it holds a few, else equal ones, and end
// where histograms do.
func TestParts(t *testing.T) {
	var s Series
	for at := 50 * time.Second; at <= 1250*time.Second; at += 50 * time.Second {
		s.Intervals = append(s.Intervals, NewInterval(at-50*time.Second, at))
	}
	assert.Len(t, s.Parts(0, 1200*time.Second), 24)
	assert.Equal(t, []Span{{100 * time.Second, 150 * time.Second}, {150 * time.Second, 200 * time.Second}},
		s.Parts(100*time.Second, 200*time.Second))
	for at := range 5 {
		s.Cycles = append(s.Cycles, time.Duration(300*at)*time.Second)
	}
	parts := s.Parts(0, 1200*time.Second)
	assert.Len(t, parts, 4)
	assert.Equal(t, Span{900 * time.Second, 1200 * time.Second}, parts[3])
	assert.Empty(t, Series{}.Parts(0, time.Minute))
	assert.Nil(t, HalfByParts([]float64{1, 2}))
	assert.InDelta(t, 4.303/math.Sqrt(3), *HalfByParts([]float64{1, 2, 3}), 1e-3)
}
