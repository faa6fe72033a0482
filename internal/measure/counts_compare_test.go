package measure

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCompareCounts: a rise from none is seen, none is no change, and a rate of three times as much reads so.
func TestCompareCounts(t *testing.T) {
	of := func(counts ...float64) (all []Rate) {
		for _, c := range counts {
			all = append(all, Rate{c, 50_000})
		}
		return all
	}
	for _, c := range []struct {
		why             string
		a, b            []Rate
		percent         float64
		rises, unheeded bool
	}{
		{"500 each from none", of(0, 0, 0, 0, 0), of(500, 510, 490, 505, 495), math.Inf(1), true, false},
		{"three times as many", of(10, 12, 8, 11, 9), of(30, 33, 27, 31, 29), 200, true, false},
		{"three times as many, in bursts", of(0, 40, 0, 0, 10), of(0, 0, 150, 0, 0), 200, false, false},
		{"one from none", of(0, 0, 0), of(0, 1, 0), math.Inf(1), false, false},
		{"none and none", of(0, 0, 0), of(0, 0, 0), 0, false, true},
		{"one run each", of(0), of(500), 0, false, true},
	} {
		got := CompareCounts(c.a, c.b)
		if c.unheeded {
			assert.True(t, math.IsNaN(got.Percent) && !got.Significant(), "%s: %+v", c.why, got)
			continue
		}
		assert.True(t, got.Percent == c.percent || math.Abs(got.Percent-c.percent) <= 1e-6, "%s: %+v", c.why, got)
		assert.Equal(t, [2]bool{c.rises, c.rises}, [2]bool{got.Low > 0, got.P < .05}, "%s: %+v", c.why, got)
	}
}
