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

// tell says that a step begins.
func (v *stepsView) tell(name string) { v.step.Store(&step{name, time.Now()}) }

// stop ends the showing.
func (v *stepsView) stop() { v.end() }

// String is the state in words: "reset: vacuum orders for 35s, 1m5s in all".
func (v *stepsView) String() string {
	all := time.Since(v.start).Round(time.Second)
	s := v.step.Load()
	if s == nil {
		return fmt.Sprintf("%s: %s", v.what, all)
	}
	return fmt.Sprintf("%s: %s for %s, %s in all", v.what, s.name, time.Since(s.began).Round(time.Second), all)
}
