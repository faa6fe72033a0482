// Package link is what the engines' own sessions share below their protocols: calls that end with their context, and
// reads and writes with few system calls.
package link

import (
	"context"
	"net"
	"time"
)

// Watch has the end of a context end the call under way on a connection. It is used by one goroutine.
type Watch struct {
	conn    net.Conn
	watched context.Context
	unwatch func()
}

// NewWatch makes a Watch of a connection that watches nothing yet.
func NewWatch(conn net.Conn) Watch {
	return Watch{conn: conn, watched: context.Background(), unwatch: func() {}}
}

// Over makes the end of ctx end the calls that follow: reads and writes fail. It stays until another context comes: a
// user makes all its calls with the same one, which then costs nothing.
func (w *Watch) Over(ctx context.Context) {
	if ctx == w.watched {
		return
	}
	w.unwatch()
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

// Stop ends the watch.
func (w *Watch) Stop() { w.Over(context.Background()) }

// Cause is the reason of a broken connection: the context's end where that was it.
func (w *Watch) Cause(err error) error {
	if ended := w.watched.Err(); ended != nil {
		return ended
	}
	return &net.OpError{Op: "talk", Net: w.conn.RemoteAddr().Network(), Addr: w.conn.RemoteAddr(), Err: err}
}
