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

// progress shows how many bytes of a long job are done, with the rate and the time left: on a terminal a bar that is
// drawn again and again, elsewhere a line every ten seconds. Add may be called from any goroutine, also on a nil progress, which shows nothing.
//
//	p := startProgress(cmd.ErrOrStderr(), "load", expectedBytes)
//	defer p.Stop()
//	…
//	p.Add(n)
type progress struct {
	what  string
	total int64
	start time.Time
	done  atomic.Int64
	left  atomic.Pointer[timeLeft] // nil: as the rate says
	bar   *mpb.Bar                 // nil where there is no terminal
	stop  func()
}

// timeLeft is the time that a job said at some time that it would take.
type timeLeft struct {
	left time.Duration // negative: unknown
	at   time.Time
}

// startProgress begins to show a job of about total bytes on w. What names the job in each line: a verb such as "load".
func startProgress(w io.Writer, what string, total int64) *progress {
	p := &progress{what: what, total: total, start: time.Now()}
	if isTerminal(w) {
		bars := mpb.New(mpb.WithOutput(w), mpb.WithWidth(40))
		p.bar = bars.AddBar(total,
			mpb.PrependDecorators(decor.Name(what)),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.String() })),
			mpb.BarRemoveOnComplete(),
		)
		p.stop = sync.OnceFunc(func() { p.bar.Abort(true); bars.Wait() })
		return p
	}
	p.stop = startTicking(progressEvery, func() { fmt.Fprintf(w, "%s: %s\n", what, p) })
	return p
}

// Add says that n more bytes are done.
func (p *progress) Add(n int64) {
	if p == nil {
		return
	}
	done := p.done.Add(n)
	if p.bar != nil {
		p.bar.SetCurrent(min(done, p.total-1)) // the total is an estimate: Stop ends the bar, nothing else
	}
}

// Stop ends the showing and takes a bar off the terminal. It may be called twice.
func (p *progress) Stop() {
	if p != nil {
		p.stop()
	}
}

// String is the state in words: "45 %, 6.1 GB of 13.4 GB, 850 MB/s, 9s left".
func (p *progress) String() string {
	done, elapsed := p.done.Load(), time.Since(p.start)
	if done == 0 {
		return fmt.Sprintf("0 %%, %s to do", bytesText(p.total))
	}
	rate := float64(done) / elapsed.Seconds()
	share := min(float64(done)/float64(p.total), 1)
	text := fmt.Sprintf("%.0f %%, %s of %s, %s/s", 100*share, bytesText(done), bytesText(max(done, p.total)), bytesText(int64(rate)))
	left := time.Duration(float64(max(p.total-done, 0)) / rate * float64(time.Second))
	if told := p.left.Load(); told != nil && told.left < 0 {
		return text
	} else if told != nil {
		left = max(told.left-time.Since(told.at), 0)
	}
	return fmt.Sprintf("%s, %v left", text, left.Round(time.Second))
}

// bytesText is a number of bytes for people, in decimal units as disks are sold: "13.4 GB".
func bytesText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	v, unit := float64(n)/1000, 0
	for v >= 999.95 && unit < 3 {
		v, unit = v/1000, unit+1
	}
	return fmt.Sprintf("%.1f %cB", v, "kMGT"[unit])
}
