package sqlserver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestAwaitGhosts: rows that go are waited for, those that stay are not for ever.
func TestAwaitGhosts(t *testing.T) {
	for _, c := range []struct {
		name  string
		count func(asked int) int64
		slow  time.Duration // is the answer
		took  time.Duration
		asked int
	}{
		{"none", func(int) int64 { return 0 }, 0, 0, 1},
		{"ten pages each time", func(asked int) int64 {
			return 100 - 10*int64(asked)
		}, 0, 9 * ghostPause, 10},
		{"some stay", func(asked int) int64 {
			return max(3, 5-int64(asked))
		}, 0, ghostsStay + ghostPause, 62},
		{"asking is slow", func(asked int) int64 {
			return int64(2 - asked)
		}, 2 * time.Second, 44 * time.Second, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			asked := 0
			_, err := awaitGhosts(t.Context(), func() (int64, error) {
				time.Sleep(c.slow)
				asked++
				return c.count(asked), nil
			})
			assert.NoError(t, err, c.name)
			assert.Equal(t, c.took, time.Since(start), c.name)
			assert.Equal(t, c.asked, asked, c.name)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := awaitGhosts(ctx, func() (int64, error) { return 1, nil })
	assert.ErrorIs(t, err, context.Canceled)
}
