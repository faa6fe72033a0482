package sqlserver

import (
	"context"
	"math"
	"time"

	"ds2/internal/progress"
)

const (
	// ghostPause is between two questions for ghost records: the server removes some every 5 s. It
	// is longer where asking takes long, so that the reads of asking stay few.
	ghostPause = 5 * time.Second
	ghostShare = 20 // of the time, at most one part in this is for asking

	// ghostsStay is after how long without fewer ghost records no more are expected to go.
	ghostsStay = 5 * time.Minute
)

// awaitGhosts waits until there are none, or no fewer for a while, and gives how many are left.
func awaitGhosts(ctx context.Context, count func() (int64, error)) (left int64, err error) {
	fewest := int64(math.MaxInt64)
	since := time.Now()
	for {
		asked := time.Now()
		if left, err = count(); err != nil || left == 0 {
			return left, err
		}
		if left < fewest {
			fewest = left
			since = time.Now()
		}
		if time.Since(since) >= ghostsStay {
			return left, nil
		}
		if !progress.Pause(ctx, max(ghostPause, ghostShare*time.Since(asked))) {
			return left, ctx.Err()
		}
	}
}
