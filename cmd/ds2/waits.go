package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ds2/internal/outside"
	"ds2/internal/progress"
	"ds2/internal/store"
)

// watchWaits says, once each, what servers keep a command waiting for, until stop. While users work it asks nothing.
func watchWaits(stores []store.Database, quiet func() bool, say func(string)) (stop func()) {
	var stops []func()
	for _, s := range stores {
		said := map[string]bool{}
		silent := false
		look := func(ctx context.Context) bool {
			if quiet() {
				return true
			}
			ctx, cancel := outside.Within(ctx, outside.Patience)
			defer cancel()
			waits, err := waitsOf(ctx, s)
			gone := store.Classify(err) == store.Connection && context.Cause(ctx) != context.Canceled
			if gone && !silent && !quiet() {
				say(fmt.Sprintf("waiting for %s, which does not answer: %v", s.Label(), outside.Err(ctx, err)))
			}
			silent = gone
			for what, text := range waits {
				if !said[what] {
					say(fmt.Sprintf("waiting for %s: %s", s.Label(), text))
				}
				said[what] = true
			}
			return true
		}
		stops = append(stops, progress.Watch(context.Background(), outside.Patience/2, look))
	}
	return sync.OnceFunc(func() {
		for _, stop := range stops {
			stop()
		}
	})
}

// waiter is an engine that says what statements of this process wait for since a while, by what holds them up, such as
// a process.
type waiter interface {
	Waits(ctx context.Context, since time.Duration) (map[string]string, error)
}

// waitsOf is what a server keeps statements waiting for; of one that cannot say, whether it answers.
func waitsOf(ctx context.Context, s store.Database) (map[string]string, error) {
	if engine, ok := s.(waiter); ok {
		return engine.Waits(ctx, outside.Patience/2)
	}
	return nil, s.Wrap("connect to "+s.Label(), s.DB().PingContext(ctx))
}
