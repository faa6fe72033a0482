package background

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestThrottle(t *testing.T) {
	for _, c := range []struct {
		why   string
		rate  float64
		bytes int64         // of each of 10 requests
		pause time.Duration // before them
		took  time.Duration
	}{
		{"at the rate from the first request on", 1e6, 500e3, 0, 5 * time.Second},
		{"a second is caught up", 1e6, 500e3, time.Hour, 4 * time.Second},
		{"a request of more than a second's bytes", 1e3, 5e3, 0, 50 * time.Second},
		{"no bound", 0, 1 << 40, 0, 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThrottle(c.rate)
				time.Sleep(c.pause)
				begin := time.Now()
				for range 10 {
					assert.NoError(t, th.wait(t.Context(), c.bytes))
				}
				if took := time.Since(begin); (took - c.took).Abs() > time.Millisecond {
					t.Errorf("took %s, want %s", took, c.took)
				}
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, rate := range []float64{0, 1} {
		assert.ErrorIs(t, newThrottle(rate).wait(ctx, 1000), context.Canceled, "at rate %v, interrupted", rate)
	}
}
