package simulate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/durability"
	"ds2/internal/result"
)

// TestCuts holds the bounds of the share of cuts that lose anything against the true one.
func TestCuts(t *testing.T) {
	made := simulated(t, "cuts", "cuts", "lossy", "the upper bound holds", "the lower bound holds")
	for _, c := range []struct {
		cuts  int
		lossy float64
	}{{10, .1}, {10, .3}, {20, .05}, {60, .05}, {100, .01}} {
		random := randomOf(fmt.Sprint("cuts", c))
		of := shares(func() []bool {
			var cuts []result.Cut
			for range c.cuts {
				cut := result.Cut{Acknowledged: 1}
				if random.Float64() < c.lossy {
					cut.Lost = 1
				}
				cuts = append(cuts, cut)
			}
			all := durability.Plan{}.Conclude(cuts)
			return []bool{all.To >= c.lossy, all.From <= c.lossy}
		})
		made.row(fmt.Sprint(c.cuts), fmt.Sprintf("%g %%", 100*c.lossy), share(of[0]), share(of[1]))
		assert.True(t, within(of[0], .95, 1) && within(of[1], .95, 1),
			"%v: the bounds hold in %s and %s", c, share(of[0]), share(of[1]))
	}
}
