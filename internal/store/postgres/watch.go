package postgres

import (
	"context"
	"net"
	"time"
)

// watch has the end of a context end the call under way on a connection. It is used by one
// goroutine.
type watch struct {
	conn    net.Conn
	watched context.Context // nil: none yet
	unwatch func()
}

// watchContext makes the end of ctx end the calls that follow: reads and writes fail. It stays
// until another context comes: a user makes all its calls with the same one, which then costs
// nothing.
func (w *watch) watchContext(ctx context.Context) {
	if ctx == w.watched {
		return
	}
	if w.watched != nil {
		w.unwatch()
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		w.conn.SetDeadline(time.Unix(1, 0)) // long past: ends reads and writes under way
		close(done)
	})
	w.watched = ctx
	w.unwatch = func() {
		if !stop() {
			<-done
			w.conn.SetDeadline(time.Time{})
		}
	}
}

// stopWatch ends the watch.
func (w *watch) stopWatch() { w.watchContext(context.Background()) }

// findCause is the reason of a broken connection: the context's end where that was it.
func (w *watch) findCause(err error) error {
	if ended := w.watched.Err(); ended != nil {
		return ended
	}
	return &net.OpError{
		Op:   "talk",
		Net:  w.conn.RemoteAddr().Network(),
		Addr: w.conn.RemoteAddr(),
		Err:  err,
	}
}
