// Package live is the page that a command serves while it is at work: what it is at, the time left,
// and the figures of the run under way, second by second. It reads what others have measured and
// computes no figure, and whoever looks at it can change nothing. Where the page is served, and
// what a viewer may cost, is for package metrics to say.
package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"ds2/internal/progress"
	"ds2/internal/report"
)

// Show is what the page shows for a while: a run, or a load.
type Show struct {
	Title  string
	Since  string // what the time axis of the charts counts; empty: since the users started
	Charts []report.LiveChart
	// Now is asked twice a second, and for nothing else: it must be cheap.
	Now func() Frame
}

// Frame is how things stand.
type Frame struct {
	Headline string    `json:"headline"`
	Phase    string    `json:"phase"`
	Left     string    `json:"left,omitempty"`  // of the run
	Share    *float64  `json:"share,omitempty"` // that is done, 0 to 1; nil: unknown
	Doing    string    `json:"doing,omitempty"` // what the run is part of
	Facts    []Fact    `json:"facts,omitempty"`
	Limits   []Verdict `json:"limits,omitempty"`

	// At is where Values, one for each line of the charts, stand on the time axis, in seconds. A
	// frame with the At of the last one has none that are new.
	At     float64    `json:"at"`
	Values []*float64 `json:"values,omitempty"`
	Oldest *float64   `json:"oldest,omitempty"` // what stands before it on the time axis goes
}

// Fact is a figure with its name.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	State string `json:"state,omitempty"` // "bad", or empty
}

// Verdict is how a limit stands.
type Verdict struct {
	Limit    string `json:"limit"`
	Measured string `json:"measured"`
	OK       bool   `json:"ok"`
}

// historySeconds is for how long a viewer who comes later still sees what was: half an hour of
// seconds.
const historySeconds = 1800

// never is the time of no frame. It is before every time, so that the first frame is always news.
var never = math.Inf(-1)

// MaxViewers is how many may look at once. A viewer keeps a connection, and the server's are
// limited.
const MaxViewers = 8

// How a page and its viewers keep in step: one that reads slowly is let go, and connects again by
// itself, rather than hold memory and slow down what is measured.
const (
	tick      = 500 * time.Millisecond
	patience  = 10 * time.Second // that a viewer may take to read an event
	behind    = 8                // events that a viewer may be behind
	goodbye   = 250 * time.Millisecond
	keepAlive = 5 * time.Second // after which an event comes in any case
)

// Page is the live page of a command.
type Page struct {
	command string

	mu      sync.Mutex
	show    Show // its charts with their points so far
	doing   string
	found   []byte // what is known so far, as an event; nil: nothing
	runs    []byte // the list of runs, as an event; nil: there is one run
	last    Frame  // at never: none yet
	sent    time.Time
	viewers map[chan []byte]bool
	over    bool

	stop     func() // asking
	watching sync.WaitGroup
	patience time.Duration
}

// New makes the page of a command, such as "ds2 bench", and begins to show it. It is closed by End.
func New(command string) *Page {
	p := &Page{
		command:  command,
		last:     Frame{At: never},
		viewers:  map[chan []byte]bool{},
		patience: patience,
	}
	p.stop = progress.Watch(context.Background(), tick, func(context.Context) bool {
		p.look(time.Now())
		return true
	})
	return p
}

// Begin shows something new in the place of what was shown.
func (p *Page) Begin(s Show) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replace(s)
}

// replace shows something else from its begin: viewers drop the charts that they have.
func (p *Page) replace(s Show) {
	p.show = s
	p.last = Frame{At: never}
	p.send(p.begin())
}

// Doing says what the command is at, such as the run of a bench that is being prepared.
func (p *Page) Doing(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing = fmt.Sprintf(format, args...)
	// What comes next is another run's, and so are its figures.
	if p.show.Now == nil && p.show.Title != "" {
		p.replace(Show{})
	}
}

// Found shows a part of HTML: what the runs so far come to.
func (p *Page) Found(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = event("found", part)
	p.send(p.found)
}

// ListRuns shows a table of the runs so far.
func (p *Page) ListRuns(rows []RunRow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs = event("runs", rows)
	p.send(p.runs)
}

// Rest says that what was shown last is over, though the command is not, and what it came to, if
// anything: it stays on the page until Doing says what comes next, and is asked no more.
func (p *Page) Rest(result string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show.Now = nil
	if result != "" {
		p.last.Headline = result
		p.sent = time.Time{}
	}
}

// End tells the viewers that the command is over, and waits a moment for them to hear it.
func (p *Page) End(text string) {
	p.stop()
	p.mu.Lock()
	p.over = true
	p.send(event("end", map[string]string{"text": text}))
	for v := range p.viewers {
		close(v)
	}
	clear(p.viewers)
	p.mu.Unlock()
	moment, gone := context.WithTimeout(context.Background(), goodbye)
	go func() {
		p.watching.Wait()
		gone()
	}()
	<-moment.Done()
}

// look asks how things stand, keeps the values, and tells the viewers.
func (p *Page) look(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Between runs, and while one is prepared, the last figures stay with what the command is at
	// now.
	f := Frame{At: p.last.At, Phase: p.doing}
	if p.show.Now != nil {
		f = p.show.Now()
		f.Doing = cmp.Or(f.Doing, p.doing)
	} else if p.show.Charts != nil {
		f.Headline = p.last.Headline
		f.Facts = p.last.Facts
		f.Limits = p.last.Limits
	}
	if f.At == p.last.At {
		f.Values = nil
	} else if f.Values != nil {
		p.keep(&f)
	}
	f.At = max(f.At, 0)
	if f.Values == nil && reflect.DeepEqual(f, p.last) && now.Sub(p.sent) < keepAlive {
		return
	}
	p.send(event("frame", f))
	p.sent = now
	p.last = f
	p.last.Values = nil // they are in the charts, whose oldest points are gone
	p.last.Oldest = nil
}

// keep adds the frame's values to the charts.
func (p *Page) keep(f *Frame) {
	at := 0
	second := report.Digits(f.At)
	for i := range p.show.Charts {
		for k := range p.show.Charts[i].Lines {
			l := &p.show.Charts[i].Lines[k]
			l.Points = append(l.Points, [2]*float64{second, f.Values[at]})
			if len(l.Points) > historySeconds {
				l.Points = slices.Delete(l.Points, 0, len(l.Points)-historySeconds)
				f.Oldest = l.Points[0][0]
			}
			at++
		}
	}
}

// begin is the event that begins what is shown, with all that it has shown so far.
func (p *Page) begin() []byte {
	return event("show", map[string]any{
		"command": p.command, "title": p.show.Title, "since": p.show.Since,
		"charts": p.show.Charts,
	})
}

// event is an event as the browser reads it.
func event(name string, data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // it is made of texts and of numbers that are some
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)
}

// send hands an event to all viewers. One that is too far behind is let go: it comes again, and
// sees all at once.
func (p *Page) send(e []byte) {
	for v := range p.viewers {
		select {
		case v <- e:
		default:
			close(v)
			delete(p.viewers, v)
		}
	}
}

// join makes a viewer, which gets what was shown so far; nil where there are too many.
func (p *Page) join() chan []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || len(p.viewers) >= MaxViewers {
		return nil
	}
	v := make(chan []byte, behind)
	v <- p.begin()
	for _, e := range [][]byte{p.found, p.runs} {
		if e != nil {
			v <- e
		}
	}
	if p.last.At != never {
		v <- event("frame", p.last)
	}
	p.viewers[v] = true
	p.watching.Add(1)
	return v
}

// leave forgets a viewer. One that was let go before is no longer there to be forgotten.
func (p *Page) leave(v chan []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.viewers, v)
	p.watching.Done()
}

// Stream sends what is shown to one viewer, as server-sent events, until one of them leaves. The
// deadlines of the server's connections are for requests that end: a stream has one for each event
// instead, so that a viewer who reads nothing is let go all the same.
func (p *Page) Stream(w http.ResponseWriter, r *http.Request) {
	v := p.join()
	if v == nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, fmt.Sprintf("%d viewers are watching already", MaxViewers),
			http.StatusServiceUnavailable)
		return
	}
	defer p.leave(v)
	connection := http.NewResponseController(w)
	// A stream has no request to be read: that its viewer has gone shows as the end of the request.
	_ = connection.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	for {
		select {
		case <-r.Context().Done():
			return
		case e, ok := <-v:
			if !ok {
				return
			}
			// What fails here fails below, too.
			_ = connection.SetWriteDeadline(time.Now().Add(p.patience))
			_, _ = w.Write(e)
			if connection.Flush() != nil {
				return
			}
		}
	}
}

// document is the page without its figures, the same for all.
var document = sync.OnceValues(report.LiveHTML)

// Document sends the page itself, which asks for the stream.
func (p *Page) Document(w http.ResponseWriter, _ *http.Request) {
	text, err := document()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	// The page has all that it needs in itself: labels that users chose can load and run nothing,
	// and no other page can show it in a frame.
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "+
			"connect-src 'self'; img-src data:; frame-ancestors 'none'; "+
			"base-uri 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	w.Write(text) // whoever has gone misses nothing
}
