package progress

import (
	"context"
	"sync"
	"time"
)

// Watch calls look every so often, beside a job, until it is false, ctx ends or stop is called,
// which waits for the last call.
func Watch(
	ctx context.Context,
	every time.Duration,
	look func(ctx context.Context) bool,
) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for Pause(ctx, every) && look(ctx) {
		}
	})
	return func() { cancel(); watch.Wait() }
}

// Pause waits; false where ctx ends before.
func Pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
