package reading

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// TestLogRounds has three readers read a log, of which one fails once, and later leaves: each reads each piece once,
// and only the last of a round ends the piece.
func TestLogRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Of(nil).rounds
		var mu sync.Mutex
		var said []string
		say := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, what)
		}
		discard := func() error { say("discard"); return nil }
		all, cancelAll := context.WithCancel(t.Context())
		one, cancelOne := context.WithCancel(all)
		var readers sync.WaitGroup
		var busy atomic.Bool
		var joined [3]*logReader
		for number := range joined { // all are there before the first reads: a reader alone ends each piece
			joined[number] = &logReader{}
			require.NoError(t, l.join(all, joined[number], discard))
		}
		for number, r := range joined {
			ctx := all
			if number == 0 {
				ctx = one
			}
			readers.Go(func() {
				defer l.leave(r)
				for tries := 1; ctx.Err() == nil; tries++ {
					l.read(ctx, r, func(last bool) (store.Read, error) {
						assert.False(t, busy.Swap(true), "two at once")
						defer busy.Store(false)
						time.Sleep(time.Second)
						if number == 2 && tries == 2 {
							return store.Read{}, errors.New("it broke")
						}
						if last {
							say("end")
						} else {
							say("copy")
						}
						return store.Read{}, nil
					})
				}
			})
		}
		check := func(name string, want ...string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(said, want) {
				t.Errorf("%s: %q", name, said)
			}
			said = nil
		}
		time.Sleep(logPause)
		check("first round", "discard", "copy", "copy", "end")
		time.Sleep(logPause + 3*time.Second)
		check("second round, with a failure", "copy", "copy", "end")
		cancelOne()
		time.Sleep(logPause + 3*time.Second)
		check("round of two", "copy", "end")
		cancelAll()
		readers.Wait()
		assert.Empty(t, l.readers, "readers are left")
		require.NoError(t, l.join(t.Context(), &logReader{}, discard))
		check("the first of the next readers", "discard")
	})
}
