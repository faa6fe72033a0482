package metrics

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// held is a run whose scrapes wait, and give n lines of 10 kB: few, so that gathering takes no
// time.
type held struct {
	entered, leave chan struct{}
	lines          int
}

func (h held) collect(s sink) {
	h.entered <- struct{}{}
	<-h.leave
	for i := range h.lines {
		sendAs(s, newDesc("held", "h", "i"), "held", 1, fmt.Sprint(i, strings.Repeat("x", 10_000)))
	}
}

// TestScrapesAtOnce has as many scrapes under way as there may be: the next one is turned away.
func TestScrapesAtOnce(t *testing.T) {
	h := held{make(chan struct{}), make(chan struct{}), 1}
	s := start(t, asked(h.collect))
	scrape := func(want int) {
		response, err := http.Get(s.URL())
		if assert.NoError(t, err) {
			assert.Equal(t, want, response.StatusCode)
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
	}
	var scrapes sync.WaitGroup
	for range maxScrapes {
		scrapes.Go(func() { scrape(http.StatusOK) })
		<-h.entered
	}
	scrape(http.StatusServiceUnavailable)
	close(h.leave)
	scrapes.Wait()
}

// TestLoopbackOnly asks by names that have come to mean this machine, as a page of another site
// could.
func TestLoopbackOnly(t *testing.T) {
	s := start(t)
	for host, want := range map[string]int{
		"127.0.0.1:9464": http.StatusOK, "localhost": http.StatusOK, "[::1]:9464": http.StatusOK,
		"evil.example": http.StatusForbidden, "evil.example:9464": http.StatusForbidden,
		"10.0.0.1": http.StatusForbidden,
	} {
		request, err := http.NewRequestWithContext(
			t.Context(),
			http.MethodGet,
			s.URL(),
			http.NoBody,
		)
		require.NoError(t, err)
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		response.Body.Close()
		assert.Equal(t, want, response.StatusCode, host)
	}
}

// TestPatience has clients that send nothing, half a header, or read nothing: each is given up, and
// its place is free for others.
func TestPatience(t *testing.T) {
	defer func(was time.Duration) { clientTime = was }(clientTime)
	clientTime = 200 * time.Millisecond
	h := held{
		make(chan struct{}, 1000),
		make(chan struct{}),
		600,
	} // more than the buffers of a connection take
	close(h.leave)
	s, err := Serve("127.0.0.1:0", http.NotFound, http.NotFound)
	require.NoError(t, err)
	s.Show(asked(h.collect))
	defer func() {
		s.Close()
		// A server that has closed still waits half a second for a client whose header was too
		// long.
		end := time.Now().Add(5 * time.Minute)
		for goleak.Find(keptAlive...) != nil && time.Now().Before(end) {
		}
	}()
	for why, sent := range map[string]string{
		"says nothing":       "",
		"sends half":         "GET /metrics HTTP/1.1\r\nHost: a\r\n",
		"sends a long one":   "GET /metrics HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 2*maxHeader),
		"reads nothing back": "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		for range maxConnections {
			conn, err := net.Dial("tcp", s.listener.Addr().String())
			require.NoError(t, err)
			defer conn.Close()
			io.WriteString(conn, sent) // which the server may have given up already
		}
		client := http.Client{
			Timeout:   30 * time.Second,
			Transport: &http.Transport{DisableKeepAlives: true},
		}
		url := strings.Replace(s.URL(), "/metrics", "/", 1)
		response, err := client.Get(url)
		// one that is slow itself is given up, too
		for end := time.Now().Add(5 * time.Minute); err != nil && time.Now().Before(end); {
			response, err = client.Get(url)
		}
		require.NoError(t, err, "beside clients of which each %s", why)
		response.Body.Close()
	}
}
