// Package throttle lets bytes pass at a rate.
package throttle

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Throttle is a rate that several readers keep together. What was late is caught up for a second at most, as drives
// that are slow for a while should not be read twice as fast afterwards.
type Throttle struct {
	limiter *rate.Limiter // nil: no bound
}

// New makes one of so many bytes a second; 0: no bound.
func New(bytesPerSecond float64) Throttle {
	if bytesPerSecond <= 0 {
		return Throttle{}
	}
	limiter := rate.NewLimiter(rate.Limit(bytesPerSecond), max(1, int(bytesPerSecond)))
	limiter.AllowN(time.Now(), limiter.Burst()) // nothing is late yet
	return Throttle{limiter}
}

// Wait waits until so many bytes may pass. The error is that of ctx.
func (t Throttle) Wait(ctx context.Context, bytes int64) error {
	if t.limiter == nil {
		return ctx.Err()
	}
	for burst := int64(t.limiter.Burst()); bytes > 0; bytes -= burst {
		if err := t.limiter.WaitN(ctx, int(min(bytes, burst))); err != nil {
			return err
		}
	}
	return nil
}
