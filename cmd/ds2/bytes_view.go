package main

import (
	"io"
	"time"
)

// bytesView shows how far a job is that knows how many bytes it reads: a progress for each pass. A nil one shows nothing.
type bytesView struct {
	w        io.Writer
	what     string
	done     int64
	progress *progress
}

func newBytesView(quiet bool, w io.Writer) *bytesView {
	if quiet {
		return nil
	}
	return &bytesView{w: w}
}

// tell says how much of a pass is done, and the time left, negative where nobody knows. Another name, or less than was done before, begins another pass.
func (v *bytesView) tell(what string, done, total int64, left time.Duration) {
	if v == nil {
		return
	}
	if v.progress == nil || what != v.what || done < v.done {
		v.stop()
		v.progress, v.what, v.done = startProgress(v.w, what, total), what, 0
	}
	v.progress.left.Store(&timeLeft{left, time.Now()})
	v.progress.Add(done - v.done)
	v.done = done
}

func (v *bytesView) stop() {
	if v != nil {
		v.progress.Stop()
	}
}
