package driver

import (
	"context"
	"sync/atomic"
	"time"

	"ds2/internal/progress"
)

// hold keeps users from connecting while a server is known to be away: else they would use up their retries and give up
// orders, and be at work again before somebody has looked at what the server holds.
type hold struct {
	gate atomic.Pointer[chan struct{}] // closed when the users may go on; nil: nobody is held
}

// Hold keeps users without a connection from connecting, until Release. Those with one go on.
func (d *Driver) Hold() {
	gate := make(chan struct{})
	d.held.gate.Store(&gate)
}

// Release lets those go on that Hold keeps, if there are any.
func (d *Driver) Release() {
	if gate := d.held.gate.Swap(nil); gate != nil {
		close(*gate)
	}
}

// wait waits for Release; false where ctx is over before.
func (h *hold) wait(ctx context.Context) bool {
	if gate := h.gate.Load(); gate != nil {
		select {
		case <-*gate:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// noteTime is how long users may take to note that their operation was cut off.
const noteTime = 20 * time.Millisecond

// Abort cuts off the connections of all users, and waits until no operation is under way and what became of each is
// noted.
func (d *Driver) Abort(ctx context.Context) {
	for _, u := range d.users {
		u.mu.Lock()
		if u.abort != nil {
			u.abort()
		}
		u.mu.Unlock()
	}
	for busy := true; busy && ctx.Err() == nil; {
		busy = false
		for _, u := range d.users {
			busy = busy || u.began.Load() != 0
		}
		progress.Pause(ctx, noteTime)
	}
}
