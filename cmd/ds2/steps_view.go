package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// stepsView shows what a job of several steps is at and since when: on a terminal a line that is drawn again and again,
// elsewhere a line every ten seconds.
type stepsView struct {
	what  string
	start time.Time
	step  atomic.Pointer[step]
	end   func()
}

type step struct {
	name  string
	began time.Time
	share float64 // of the whole job
	left  time.Duration
	at    time.Time // when those were told
}

// startSteps begins to show a job on w. What names the job in each line: a verb such as "reset".
func startSteps(w io.Writer, what string) *stepsView {
	v := &stepsView{what: what, start: time.Now()}
	if isTerminal(w) {
		bars := mpb.New(mpb.WithOutput(w))
		line := bars.New(1, mpb.NopStyle(), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return v.String() })))
		v.end = sync.OnceFunc(func() { line.Abort(true); bars.Wait() })
		return v
	}
	v.end = startTicking(progressEvery, func() { fmt.Fprintln(w, v) })
	return v
}

// tell says what the job is at: store.Tell.
func (v *stepsView) tell(name string, share float64, left time.Duration) {
	now := time.Now()
	began := now
	if last := v.step.Load(); last != nil && last.name == name {
		began = last.began
	}
	v.step.Store(&step{name, began, share, left, now})
}

// stop ends the showing.
func (v *stepsView) stop() { v.end() }

// String is the state in words: "reset: vacuum orders for 35s, 1m5s in all; 40 %, about 1m38s left".
func (v *stepsView) String() string {
	all := time.Since(v.start).Round(time.Second)
	s := v.step.Load()
	if s == nil {
		return fmt.Sprintf("%s: %s", v.what, all)
	}
	text := fmt.Sprintf("%s: %s for %s, %s in all", v.what, s.name, time.Since(s.began).Round(time.Second), all)
	if s.left < 0 {
		return text
	}
	return fmt.Sprintf("%s; %.0f %%, about %s left", text, 100*s.share, max(s.left-time.Since(s.at), 0).Round(time.Second))
}
