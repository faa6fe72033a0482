package sqlserver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ds2/internal/store"
)

// TestLogRounds has three readers read a log, of which one fails once, and later leaves: each reads each piece once, and only the last
// of a round ends the piece.
func TestLogRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogRounds()
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
		for number := range 3 {
			ctx, r := all, &logReader{}
			if number == 0 {
				ctx = one
			}
			if err := l.join(ctx, r, discard); err != nil {
				t.Fatal(err)
			}
			readers.Go(func() {
				defer l.leave(r)
				for tries := 1; ctx.Err() == nil; tries++ {
					l.read(ctx, r, func(last bool) (store.Read, error) {
						if busy.Swap(true) {
							t.Error("two at once")
						}
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
		if len(l.readers) != 0 {
			t.Errorf("%d readers are left", len(l.readers))
		}
		if err := l.join(t.Context(), &logReader{}, discard); err != nil {
			t.Fatal(err)
		}
		check("the first of the next readers", "discard")
	})
}

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
		{"some stay", func(asked int) int64 { return max(3, 5-int64(asked)) }, ghostsStay + ghostPause, 62},
	} {
		synctest.Test(t, func(t *testing.T) {
			start, asked := time.Now(), 0
			err := awaitGhosts(t.Context(), func() (int64, error) { asked++; return c.count(asked), nil })
			if took := time.Since(start); err != nil || took != c.took || asked != c.asked {
				t.Errorf("%s: %v after %s, asked %d times", c.name, err, took, asked)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // asking is slow
		start, asked := time.Now(), 0
		err := awaitGhosts(t.Context(), func() (int64, error) { time.Sleep(2 * time.Second); asked++; return int64(2 - asked), nil })
		if took := time.Since(start); err != nil || took != 44*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := awaitGhosts(ctx, func() (int64, error) { return 1, nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
