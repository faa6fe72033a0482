// Package progress follows a long job: how much of it is done, how fast, and about how long the
// rest takes. It knows nothing of what the work is.
package progress

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Tell is told as a job goes on: what it is at, and how much of all is done, in units that take
// about as long each. It may be called from several goroutines. Less than was done before begins
// another pass.
type Tell func(doing string, done, total int64)

// Unit is what the units of a job are.
type Unit int

// The units.
const (
	Work Unit = iota // they have no unit
	Bytes
)

// View shows how a job goes on, until stop is called.
type View func(job string, unit Unit) (tell Tell, stop func())

// Ignore is a Tell for jobs without an observer.
func Ignore(string, int64, int64) {}

// Adder tells of a job by what is added to what was done; nobody, where t is nil. It may be called
// from several goroutines.
func (t Tell) Adder(doing string, total int64) (add func(n int64)) {
	if t == nil {
		return func(int64) {}
	}
	t(doing, 0, total) // the first step may take minutes
	var mu sync.Mutex
	done := int64(0)
	return func(n int64) {
		mu.Lock()
		defer mu.Unlock()
		done += n
		t(doing, done, total)
	}
}

// stalled is for how long nothing may move until a job is said to wait.
const stalled = 30 * time.Second

// stretch is the share of a job that ends a stretch. One that is slower ends after the time of
// stalled.
const stretch = 1. / 16

// Estimate follows a job. Its rate is that of the last two stretches of the job. Its methods may be
// called from several goroutines.
type Estimate struct {
	mu          sync.Mutex
	doing       string
	done, total int64
	moved       time.Time // when it was last told something new
	from, mid   mark      // where the last two stretches began
	last        mark
}

// mark is how much was done when.
type mark struct {
	done int64
	at   time.Time
}

// State is how a job stands.
type State struct {
	Doing       string
	Done, Total int64
	Rate        float64       // units a second, lately; 0: unknown as yet
	Left        time.Duration // about; negative: unknown
	Waiting     time.Duration // since when nothing has moved; 0: a while ago at most
}

// NewEstimate follows a job that begins now.
func NewEstimate() *Estimate {
	e := &Estimate{}
	e.restart(0, time.Now())
	return e
}

// restart begins a pass, of which so much was done before.
func (e *Estimate) restart(done int64, now time.Time) {
	e.done = done
	e.moved = now
	e.last = mark{done, now}
	e.from = e.last
	e.mid = e.last
}

// Tell is a Tell.
func (e *Estimate) Tell(doing string, done, total int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	switch {
	case done < e.done:
		e.restart(0, now)
	case e.total == 0 && done > 0: // by an earlier load
		e.restart(done, now)
	}
	if doing != e.doing || done > e.done {
		e.moved = now
	}
	if done > e.done {
		e.last = mark{done, now}
	}
	if float64(done-e.mid.done) >= stretch*float64(total) || now.Sub(e.mid.at) >= stalled {
		e.from = e.mid
		e.mid = mark{done, now}
	}
	e.doing = doing
	e.done = done
	e.total = total
}

// State is how the job stands now.
func (e *Estimate) State() State {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := State{Doing: e.doing, Done: e.done, Total: e.total, Left: -1}
	if waited := time.Since(e.moved); waited >= stalled {
		s.Waiting = waited
	}
	took := e.last.at.Sub(e.from.at).Seconds()
	if took <= 0 || e.last.done == e.from.done {
		return s
	}
	s.Rate = float64(e.last.done-e.from.done) / took
	left := float64(e.total-e.done)/s.Rate - time.Since(e.last.at).Seconds()
	if left > 0 && s.Waiting == 0 {
		s.Left = time.Duration(left * float64(time.Second))
	}
	return s
}

// Share is how much is done, 0 to 1, and 1 only of nothing.
func (s State) Share() float64 {
	const most = 0.99 // of a job that goes on
	return min(float64(s.Done)/float64(max(s.Total, 1)), most)
}

// TimeLeft is the time left in words, or what is waited for; empty where unknown.
func (s State) TimeLeft() string {
	switch {
	case s.Waiting > 0:
		return "waiting for " + strings.TrimPrefix(s.Doing+" for ", " for ") + Round(s.Waiting)
	case s.Left < 0:
		return ""
	}
	return "about " + Round(s.Left) + " left"
}

// Text is the state in words, such as "45 %, about 9s left, 6.1 GB of 13.4 GB, 850.0 MB/s: orders":
// the share is of the whole job, and what a narrow terminal cuts off is the least of it. Amount
// words units; nil: they have none.
func (s State) Text(amount func(int64) string) string {
	left := s.TimeLeft()
	if s.Waiting > 0 {
		s.Doing = "" // that says it
	}
	if s.Total == 0 {
		return strings.Join(filled(s.Doing, left), ", ")
	}
	done := ""
	rate := ""
	if amount != nil {
		done = fmt.Sprintf("%s of %s", amount(s.Done), amount(max(s.Total, s.Done)))
	}
	if s.Rate > 0 && amount != nil {
		rate = amount(int64(s.Rate)) + "/s"
	} else if s.Rate > 0 {
		percent := 100 * 60 * s.Rate / float64(s.Total)
		if percent < 99 { // else the time left says it
			rate = fmt.Sprintf("%.2g %%/min", percent)
		}
	}
	text := strings.Join(
		filled(fmt.Sprintf("%d %%", int(100*s.Share())), left, done, rate),
		", ",
	)
	return strings.Join(filled(text, s.Doing), ": ")
}

func filled(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// Round words a time as exactly as an estimate is: to a second below a minute, to ten below ten
// minutes, to a minute above.
func Round(d time.Duration) string {
	unit := time.Second
	switch {
	case d >= 10*time.Minute:
		unit = time.Minute
	case d >= time.Minute:
		unit = 10 * time.Second
	}
	text := max(d.Round(unit), time.Second).String()
	text = strings.Replace(text, "m0s", "m", 1)
	return strings.Replace(text, "h0m", "h", 1)
}
