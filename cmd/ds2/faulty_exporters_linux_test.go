package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/diagnose"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// TestFaultyExporters puts proxies before an exporter in whole runs. One that caches for a time and
// one that answers after 1.2 s show what the drive did: the first from its first refresh to its
// last. Of one that goes silent nothing is judged.
func TestFaultyExporters(t *testing.T) {
	t.Parallel()
	kept := 5 * time.Second
	length := 24 * time.Second
	if nightly.At() {
		kept = 15 * time.Second
		length = 52 * time.Second
	}
	// So large that a run does not end for want of room where another's load fills it meanwhile.
	drive := devicetest.Mount(t, "/dev/shm", 3<<30)
	data := filepath.Join(drive.Dir, "data")
	server := pgtest.Start(t, localpg.Options{DataDir: data})
	exporter := serveExporter(t, data)
	var loading sync.Mutex
	for _, c := range []struct {
		name string
		// in place of what an exporter answers; since is the begin of the run
		answer func(since time.Time, shown http.Handler) http.HandlerFunc
		covers [2]float64 // of the window, at least and at most
		kind   result.FindingKind
	}{
		{"none", answerAtOnce, [2]float64{.95, 1}, ""},
		{"caches", cacheAnswers(kept), [2]float64{.5, .9}, result.PartlyCovered},
		{"late", answerLate(1200 * time.Millisecond), [2]float64{.9, 1}, ""},
		{"silent", fallSilent(length / 3), [2]float64{.05, .45}, result.Uncovered},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target := server.URL(c.name)
			loading.Lock()
			must(t, words("load --target %s --size 10MB -q", target)...)
			loading.Unlock()
			proxy := httptest.NewServer(
				c.answer(time.Now(), httputil.NewSingleHostReverseProxy(exporter)),
			)
			t.Cleanup(proxy.Close)
			out := filepath.Join(t.TempDir(), "record")
			before := drive.Counts(t)
			begun := time.Now()
			code, stdout, stderr := execute(t, quick("drive", target,
				"--run-time %s --think-time 20ms --verify none -q --exporter %s --out %s",
				length, proxy.URL, out)...)
			after := drive.Counts(t)
			seconds := time.Since(begun).Seconds()
			require.Equal(t, exitDone, code, "%s\n%s", stdout, stderr)
			r := recordOf(t, out)
			w := r.Windows[0]
			from := r.At(w.From)
			to := r.At(w.To)
			window := to.Sub(from).Seconds()
			covers := window
			if partly, known := r.Host.Partly(from, to)["disk"]; known {
				covers = partly.Covers
			}
			findings := strings.Join(result.Sentences(r.Findings, result.Reserves), "\n")
			t.Logf("covers %.1f of %.1f s; bottleneck %s (%s)\n%s",
				covers, window, r.Bottleneck.What, r.Bottleneck.Why, findings)
			assert.GreaterOrEqual(t, covers/window, c.covers[0])
			assert.LessOrEqual(t, covers/window, c.covers[1])
			told := ""
			for _, f := range r.Findings {
				if f.Kind == result.PartlyCovered || f.Kind == result.Uncovered {
					told += string(f.Kind) + ": " + f.Detail + "; "
				}
			}
			if c.kind == "" {
				assert.NotContains(t, told, "the drives")
			} else {
				assert.Regexp(t, string(c.kind)+": [a-zA-Z ]*the drives", told)
			}
			seen := sampling.Drives{Counters: r.Host, Machine: r.Machine, From: from, To: to}
			s, err := seen.Storage()
			if c.kind == result.Uncovered {
				assert.Error(t, err, "IOPS of a third of the window")
				assert.NotEqual(t, diagnose.CPU, r.Bottleneck.What)
				return
			}
			require.NoError(t, err)
			require.Len(t, s.Volumes, 1)
			did := (after.Writes - before.Writes - after.Flushes + before.Flushes) / seconds
			t.Logf("%.1f writes a second, the kernel counted %.1f", s.Volumes[0].Writes, did)
			assert.InEpsilon(t, did, s.Volumes[0].Writes, .35)
		})
	}
}

// serveExporter serves what ds2 exporter shows of a directory, until the test ends.
func serveExporter(t *testing.T, dir string) *url.URL {
	t.Helper()
	said, says := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan int)
	go func() {
		over <- run(ctx, words("exporter --dir %s --listen 127.0.0.1:0", dir), io.Discard, says)
	}()
	line := make([]byte, 200)
	n, err := said.Read(line)
	require.NoError(t, err)
	_, address, told := strings.Cut(strings.TrimSpace(string(line[:n])), "metrics: ")
	require.True(t, told, "%s", line[:n])
	go io.Copy(io.Discard, said)
	t.Cleanup(func() {
		stop()
		assert.Equal(t, exitDone, <-over)
	})
	u := mustParse(t, address)
	u.Path = ""
	return u
}

func answerAtOnce(_ time.Time, shown http.Handler) http.HandlerFunc { return shown.ServeHTTP }

// cacheAnswers answers anew after a time only, as a federation or a cache does.
func cacheAnswers(kept time.Duration) func(time.Time, http.Handler) http.HandlerFunc {
	return func(_ time.Time, shown http.Handler) http.HandlerFunc {
		var mu sync.Mutex
		var last *httptest.ResponseRecorder
		var at time.Time
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if last == nil || time.Since(at) >= kept {
				r.Header.Del("Accept-Encoding")
				last = httptest.NewRecorder()
				shown.ServeHTTP(last, r)
				at = time.Now()
			}
			w.Header().Set("Content-Type", last.Header().Get("Content-Type"))
			w.Write(last.Body.Bytes())
		}
	}
}

// answerLate answers with what is so after a time.
func answerLate(after time.Duration) func(time.Time, http.Handler) http.HandlerFunc {
	return func(_ time.Time, shown http.Handler) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(after)
			shown.ServeHTTP(w, r)
		}
	}
}

// fallSilent does not answer any longer after a time.
func fallSilent(after time.Duration) func(time.Time, http.Handler) http.HandlerFunc {
	return func(since time.Time, shown http.Handler) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if time.Since(since) > after {
				<-r.Context().Done()
				return
			}
			shown.ServeHTTP(w, r)
		}
	}
}
