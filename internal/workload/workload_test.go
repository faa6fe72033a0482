package workload

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestThink(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	if d := Think(random, 0); d != 0 {
		t.Errorf("Think(0) = %s, want none", d)
	}
	var sum time.Duration
	for range 10_000 {
		d := Think(random, time.Second)
		require.True(t, d >= 0 && d <= 2*time.Second, "Think(1s) = %s, want 0 to 2s", d)
		sum += d
	}
	if mean := sum / 10_000; mean < 980*time.Millisecond || mean > 1020*time.Millisecond {
		t.Errorf("mean think time %s, want about 1s", mean)
	}
}
