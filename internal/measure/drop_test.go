package measure

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestDrop: a rate that falls to a lower level and stays there, and what resembles it.
func TestDrop(t *testing.T) {
	for _, c := range []struct {
		name    string
		noise   float64
		seconds int
		rate    func(t float64) float64
		fell    float64 // 0: not
	}{
		{"the end of a burst", .05, 1200, step(100, 300, 30), 300},
		{"a small one amid noise", .05, 1200, step(100, 700, 70), 700},
		{"of a long run", .3, 6 * 3600, step(100, 1800, 40), 1800},
		{"after half a minute", .05, 600, step(100, 30, 50), 0},
		{"of a tenth", .02, 600, step(100, 300, 90), 0},
		{"a rise", .05, 600, step(50, 300, 100), 0},
		{"a level rate", .3, 1200, constant(100), 0},
		{"the server is gone", .05, 600, step(100, 300, 0), 0},
		{"a decline", .05, 1200, func(t float64) float64 { return 100 - t/15 }, 0},
		{"a cache that fills", .05, 1200, func(t float64) float64 {
			return 30 + 70*math.Exp(-t/200)
		}, 0},
		{"checkpoints", .05, 1200, func(t float64) float64 {
			return 100 - 60*math.Round(math.Mod(t/300, 1))
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := synthetic(c.seconds, 0, c.noise, c.rate)
			at, share, fell := s.Drop(s.Phase(PhaseRun))
			assert.Equal(t, c.fell > 0, fell)
			if fell {
				late := c.rate(float64(c.seconds-1)) / c.rate(0)
				assert.InDelta(t, c.fell, at.Seconds(), float64(c.seconds)/mostDropBins+10)
				assert.InDelta(t, 1-late, share, .05)
			}
		})
	}
	_, _, fell := Series{}.Drop(Span{To: time.Hour})
	assert.False(t, fell)
}
