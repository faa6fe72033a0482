package driver

import (
	"context"
	"time"

	"ds2/internal/progress"
)

// Hold keeps users without a connection from connecting, until Release, while a server is known to be away: else they
// would use up their retries and give up orders, and be at work again before somebody has looked at what the server
// holds. Those with a connection go on.
func (d *Driver) Hold() {
	gate := make(chan struct{})
	d.gate.Store(&gate)
}

// Release lets those go on that Hold keeps, if there are any.
func (d *Driver) Release() {
	if gate := d.gate.Swap(nil); gate != nil {
		close(*gate)
	}
}

// waitForRelease waits while users are held; false where the run stops before.
func (d *Driver) waitForRelease() bool {
	if gate := d.gate.Load(); gate != nil {
		select {
		case <-*gate:
		case <-d.stop.Done():
		}
	}
	return d.stop.Err() == nil
}

// noteTime is how long users may take to note that their operation was cut off.
const noteTime = 20 * time.Millisecond

// Abort cuts off the connections of all users, and waits until no operation is under way and what became of each is
// noted.
func (d *Driver) Abort(ctx context.Context) {
	for _, u := range d.users {
		u.cutOff()
	}
	for busy := true; busy && ctx.Err() == nil; {
		busy = false
		for _, u := range d.users {
			busy = busy || u.began.Load() != 0
		}
		progress.Pause(ctx, noteTime)
	}
}
