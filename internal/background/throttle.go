package background

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// throttle is the rate of one scan. What was late is caught up for a second at most, as drives that are slow for a
// while should not be read twice as fast afterwards.
type throttle struct {
	limiter *rate.Limiter // nil: no bound
}

// newThrottle makes one of so many bytes a second; 0: no bound.
func newThrottle(bytesPerSecond float64) throttle {
	if bytesPerSecond <= 0 {
		return throttle{}
	}
	limiter := rate.NewLimiter(rate.Limit(bytesPerSecond), max(1, int(bytesPerSecond)))
	limiter.AllowN(time.Now(), limiter.Burst()) // nothing is late yet
	return throttle{limiter}
}

// wait waits until so many bytes may pass. The error is that of ctx.
func (t throttle) wait(ctx context.Context, bytes int64) error {
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
