package live

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"ds2/internal/browsertest"
	"ds2/internal/metrics"
	"ds2/internal/nightly"
	"ds2/internal/report"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// counting shows a run whose every frame has new values.
func counting() (Show, *atomic.Int64) {
	var n atomic.Int64
	return Show{
		Title:  "run k3f9",
		Charts: []report.LiveChart{report.NewLiveChart("a", "A", "text", "OPM", false, "x", "y")},
		Now: func() Frame {
			at := float64(n.Add(1))
			return Frame{
				Headline: fmt.Sprint(at, " OPM"),
				At:       at,
				Values:   []*float64{new(10 * at), nil},
			}
		},
	}, &n
}

// served serves a page until the test ends.
func served(t *testing.T, p *Page) *metrics.Server {
	t.Helper()
	s, err := metrics.Serve("127.0.0.1:0", p.Document, p.Stream)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// viewer reads events.
type viewer struct {
	body   io.Closer
	lines  *bufio.Scanner
	status int
}

func watch(t *testing.T, ctx context.Context, s *metrics.Server) *viewer {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.PageURL()+"live", nil)
	require.NoError(t, err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return &viewer{response.Body, lines, response.StatusCode}
}

// next is the next event; empty at the end of the stream.
func (v *viewer) next() (name, data string) {
	for v.lines.Scan() {
		line := v.lines.Text()
		if text, ok := strings.CutPrefix(line, "event: "); ok {
			name = text
		}
		if text, ok := strings.CutPrefix(line, "data: "); ok {
			data = text
		}
		if line == "" {
			return name, data
		}
	}
	return "", ""
}

// TestStream has a viewer see a run from its first value on, one who comes later what was before,
// and both the end.
func TestStream(t *testing.T) {
	p := New("ds2 drive")
	s := served(t, p)
	show, _ := counting()
	p.Begin(show)
	early := watch(t, t.Context(), s)
	name, data := early.next()
	require.Equal(t, "show", name)
	require.Contains(t, data, `"command":"ds2 drive"`)
	require.Contains(t, data, "run k3f9")
	var at []float64
	for len(at) < 3 {
		name, data = early.next()
		var f Frame
		require.Equal(t, "frame", name)
		require.NoError(t, json.Unmarshal([]byte(data), &f))
		if f.Values != nil {
			at = append(at, f.At)
		}
	}
	assert.True(t, at[1] == at[0]+1 && at[2] == at[1]+1, "values at %v, want each once", at)

	late := watch(t, t.Context(), s)
	_, data = late.next()
	var began struct{ Charts []report.LiveChart }
	require.NoError(t, json.Unmarshal([]byte(data), &began))
	lines := began.Charts[0].Lines
	require.GreaterOrEqual(t, len(lines[0].Points), 3, "what a viewer who comes later sees")
	assert.Equal(t, [2]*float64{new(3.), new(30.)}, lines[0].Points[2])
	assert.Nil(t, lines[1].Points[0][1])
	go p.End("ended; the record is in here")
	for name != "end" {
		name, data = late.next()
		require.NotEmpty(t, name, "the stream ended without a word")
	}
	assert.Contains(t, data, "the record is in here", "the end")
	name, _ = late.next()
	assert.Empty(t, name, "after the end")
}

// TestRuns has a viewer see one run after the other, and what the command is at between them.
func TestRuns(t *testing.T) {
	p := New("ds2 bench")
	defer p.End("")
	v := watch(t, t.Context(), served(t, p))
	v.next()
	await := func(what, text string) (data string) {
		t.Helper()
		for {
			var name string
			name, data = v.next()
			require.NotEqual(t, "", name, "the stream ended before %s %s", what, text)
			if name == what && strings.Contains(data, text) {
				return data
			}
		}
	}
	p.Doing("run-1: restoring the database")
	await("frame", "restoring the database")
	show, asked := counting()
	p.Begin(show)
	await("show", "run k3f9")
	await("frame", `"values":[`)
	p.Rest("27,826 IOPS ± 1 %") // what the record says is not what the last second did
	await("frame", `"headline":"27,826 IOPS ± 1 %"`)
	p.Doing("run-2: settling")
	await("show", `"title":""`) // E7: the figures of run-1 are not those of run-2
	assert.Contains(
		t,
		await("frame", "settling"),
		`"headline":""`,
		"while run-2 settles the page shows",
	)
	n := asked.Load()
	time.Sleep(3 * tick)
	assert.Equal(t, n, asked.Load(), "a run that is over is asked how it stands")
	show.Title = "run m2x8"
	p.Begin(show)
	late := p.join() // before the first frame
	require.Contains(t, string(<-late), "run m2x8")
	p.leave(late)
	await("show", "run m2x8")
}

// TestRunsInBrowser shows one run after the other in a real browser.
func TestRunsInBrowser(t *testing.T) {
	p := New("ds2 bench")
	defer p.End("")
	s := served(t, p)
	browser := browsertest.Start(t, s.PageURL())
	show, _ := counting()
	p.Begin(show)
	says := func(title, headline, state, drawn string) chromedp.Action {
		text := func(id, pattern string) string {
			return fmt.Sprintf(
				"/(?:%s)/.test(document.querySelector('#%s').textContent) && ",
				pattern,
				id,
			)
		}
		shown := text("title", title) + text("headline", headline) + text("state", state)
		return chromedp.Poll(shown+drawn+"document.querySelector('.plot svg')",
			nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(0))
	}
	require.NoError(
		t,
		chromedp.Run(browser, chromedp.Navigate(s.PageURL()), says("k3f9", " OPM$", "", "")),
	)
	held := make(chan struct{})
	silent := show
	now := show.Now
	silent.Title = "run p5q1"
	silent.Now = func() Frame { <-held; return now() }
	p.Begin(silent)
	require.NoError(
		t,
		chromedp.Run(browser, says("p5q1", "^$", "^$", "")),
	) // nothing of k3f9 stands under its name
	close(held)
	require.NoError(t, chromedp.Run(browser, says("p5q1", " OPM$", "", "")))
	p.Rest("")
	p.Doing("run-2: settling")
	require.NoError(t, chromedp.Run(browser, says("^$", "^$", "settling", "!")))
	show.Title = "run m2x8"
	p.Begin(show)
	require.NoError(t, chromedp.Run(browser, says("m2x8", " OPM$", "", "")))
}

// TestViewers has as many viewers as there may be, and more: those are turned away, figures are
// still served, and a place is free as soon as one has gone.
func TestViewers(t *testing.T) {
	p := New("ds2 drive")
	defer p.End("")
	s := served(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	leaves, leave := context.WithCancel(ctx)
	for i := range MaxViewers {
		c := ctx
		if i == 0 {
			c = leaves
		}
		v := watch(t, c, s)
		name, _ := v.next()
		require.Equal(t, "show", name, "viewer %d: %d", i, v.status)
	}
	assert.Equal(
		t,
		http.StatusServiceUnavailable,
		watch(t, ctx, s).status,
		"a viewer too many gets",
	)
	for _, url := range []string{s.URL(), s.PageURL()} {
		client := http.Client{
			Timeout:   30 * time.Second,
			Transport: &http.Transport{DisableKeepAlives: true},
		}
		response, err := client.Get(url)
		require.NoError(t, err)
		response.Body.Close()
		assert.Equal(t, http.StatusOK, response.StatusCode, "%s beside all viewers", url)
	}
	leave()
	for end := time.Now().Add(5 * time.Minute); watch(t, ctx, s).status != http.StatusOK; {
		require.False(t, time.Now().After(end), "the place of a viewer who has gone is not free")
	}
}

// TestViewerWhoReadsNothing is let go, however much there is to send.
func TestViewerWhoReadsNothing(t *testing.T) {
	p := New("ds2 drive")
	p.patience = 2 * time.Second // in which a busy machine sees the viewer
	defer p.End("")
	s := served(t, p)
	long := strings.Repeat("x", 8<<20) // more than the buffers of a connection take
	p.Begin(Show{Title: long})
	conn, err := net.Dial(
		"tcp",
		strings.TrimSuffix(strings.TrimPrefix(s.PageURL(), "http://"), "/"),
	)
	require.NoError(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
	watching := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.viewers)
	}
	for _, want := range []int{1, 0} {
		is := func() bool { return watching() == want }
		require.Eventually(t, is, 5*time.Minute, 10*time.Millisecond, "%d viewers", want)
	}
}

// TestLongStream outlives the deadlines that the server's connections have.
func TestLongStream(t *testing.T) {
	nightly.Long(t, "watches for longer than a connection may take otherwise")
	p := New("ds2 drive")
	defer p.End("")
	v := watch(t, t.Context(), served(t, p))
	for start := time.Now(); time.Since(start) < 15*time.Second; {
		name, _ := v.next()
		require.NotEmpty(t, name, "the stream ended after %s", time.Since(start))
	}
}

// TestKept keeps memory level.
func TestKept(t *testing.T) {
	p := New("ds2 drive")
	defer p.End("")
	show, _ := counting()
	p.Begin(show)
	for range historySeconds + 100 {
		p.look(time.Now())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.show.Now()
	p.keep(&f)
	l := p.show.Charts[0].Lines[0]
	assert.Len(t, l.Points, historySeconds)
	assert.LessOrEqual(t, cap(l.Points), 2*historySeconds+2)
	assert.Equal(t, l.Points[0][0], f.Oldest, "before which a viewer's points go, too")
}

// TestNothingChanges: there is nothing on the page's server that a request could change.
func TestNothingChanges(t *testing.T) {
	p := New("ds2 drive")
	defer p.End("")
	s := served(t, p)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		for _, path := range []string{"", "live", "metrics"} {
			request, err := http.NewRequestWithContext(t.Context(), method, s.PageURL()+path, nil)
			require.NoError(t, err)
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			response.Body.Close()
			assert.Equal(
				t,
				http.StatusMethodNotAllowed,
				response.StatusCode,
				"%s /%s",
				method,
				path,
			)
		}
	}
}
