package workload

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThink(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	assert.Zero(t, Think(random, 0))
	var sum time.Duration
	for range 10_000 {
		d := Think(random, time.Second)
		require.True(t, d >= 0 && d <= 2*time.Second, "Think(1s) = %s, want 0 to 2s", d)
		sum += d
	}
	assert.InDelta(t, time.Second, sum/10_000, float64(20*time.Millisecond), "mean")
}
