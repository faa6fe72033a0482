package deferred

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
		took  time.Duration
		asked int
	}{
		{"none", func(int) int64 { return 0 }, 0, 1},
		{"ten pages each time", func(asked int) int64 { return 100 - 10*int64(asked) }, 9 * ghostPause, 10},
		{"some stay", func(asked int) int64 { return max(3, 5-int64(asked)) }, GhostsStay + ghostPause, 62},
	} {
		synctest.Test(t, func(t *testing.T) {
			start, asked, left := time.Now(), 0, int64(0)
			err := AwaitGhosts(t.Context(), &left, func() (int64, error) { asked++; return c.count(asked), nil })
			if took := time.Since(start); err != nil || took != c.took || asked != c.asked {
				t.Errorf("%s: %v after %s, asked %d times", c.name, err, took, asked)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // asking is slow
		start, asked, left := time.Now(), 0, int64(0)
		err := AwaitGhosts(t.Context(), &left, func() (int64, error) { time.Sleep(2 * time.Second); asked++; return int64(2 - asked), nil })
		if took := time.Since(start); err != nil || took != 44*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, AwaitGhosts(ctx, new(int64), func() (int64, error) { return 1, nil }), context.Canceled)
}
