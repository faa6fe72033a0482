package mailbox

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMix: what is drawn is within 3 σ of the mix and of the share of lazy commits.
func TestMix(t *testing.T) {
	for _, p := range profiles {
		require.NoError(t, p.Mix.CheckShares(), p.Profile)
		random := rand.New(rand.NewPCG(1, 2))
		const draws = 100_000
		var counts [4]int
		lazy := 0
		for range draws {
			counts[p.Mix.DrawOperation(random)]++
			if p.Mix.DrawLazy(random) {
				lazy++
			}
		}
		for _, c := range []struct {
			name    string
			percent int
			count   int
		}{
			{"insert", p.Mix.Insert, counts[Insert]},
			{"delete", p.Mix.Delete, counts[Delete]},
			{"replace", p.Mix.Replace, counts[Replace]},
			{"read", p.Mix.Read, counts[Read]},
			{"lazy", p.Mix.Lazy, lazy},
		} {
			share := float64(c.percent) / 100
			assert.InDelta(
				t,
				share*draws,
				c.count,
				3*math.Sqrt(draws*share*(1-share)),
				"%s: %s",
				p.Profile,
				c.name,
			)
		}
	}
}

func TestMixFaults(t *testing.T) {
	for why, m := range map[string]Mix{
		"99":         {Insert: 40, Delete: 30, Replace: 5, Read: 24},
		"101":        {Insert: 40, Delete: 30, Replace: 6, Read: 25},
		"a negative": {Insert: 110, Delete: -10},
	} {
		assert.Error(t, m.CheckShares(), "%s: no", why)
	}
	_, err := FindProfile("exchange2016")
	assert.Error(t, err, "an unknown profile is found")
}
