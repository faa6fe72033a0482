package main

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"ds2/internal/browsertest"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
)

// TestLivePage looks at a run in a real browser, in two tabs: figures that move, the charts of the report, a limit, and the end. Nothing
// comes from anywhere else. The run lasts until all was seen.
func TestLivePage(t *testing.T) {
	nightly.Long(t, "starts a browser")
	t.Parallel()
	target := pgtest.Database(t)
	must(t, "load", "--target", target, "--size", "5MB", "--quiet")
	p := startProgram(t, "drive", "--target", target, "--threads", "2", "--ramp-rate", "100", "--warmup-time", "1s", "--run-time", "0",
		"--limit", "order p95 < 10m", "--metrics-addr", "127.0.0.1:0", "--out", "out")
	p.start(t)
	page := "http://" + p.page(t) + "/"
	browser := browsertest.Start(t, page)
	second := browsertest.Tab(t, browser, page)
	run := func(tab context.Context, actions ...chromedp.Action) {
		t.Helper()
		ctx, cancel := context.WithTimeout(tab, patience)
		defer cancel()
		require.NoError(t, chromedp.Run(ctx, actions...))
	}
	// await waits for what a tab says to be true. A hidden tab draws no frames, by which chromedp itself would wait.
	await := func(tab context.Context, what string) {
		t.Helper()
		var state string
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			var is bool
			run(tab, chromedp.Evaluate(`Boolean(`+what+`)`, &is), chromedp.Evaluate(`document.querySelector('#state').textContent`, &state))
			if is {
				return
			}
		}
		t.Fatalf("waited in vain for %s; the page is at %q\n%s", what, state, p.stderr.String())
	}
	const (
		state    = `document.querySelector('#state').textContent`
		headline = `document.querySelector('#headline').textContent`
		// The lines of the first chart: the next second adds a point to them.
		opm = `[...document.querySelectorAll('#live-opm svg path[fill="none"]')].map(p => p.getAttribute('d')).join()`
	)
	tabs := []context.Context{browser, second}
	for _, tab := range tabs {
		run(tab, browsertest.Colours("light"), chromedp.EmulateViewport(1280, 900), chromedp.Navigate(page))
	}
	for i, tab := range tabs {
		var before, title string
		await(tab, `/ OPM$/.test(`+headline+`) && document.querySelector('#live-opm svg path[fill="none"]')`)
		run(tab, chromedp.Evaluate(opm, &before), chromedp.Evaluate(`document.querySelector('#title').textContent`, &title))
		await(tab, opm+` != '`+before+`'`) // it moves
		if !strings.Contains(title, "postgres, size 5MB, 2 users") {
			t.Errorf("tab %d: the title is %q", i+1, title)
		}
	}
	await(browser, `document.querySelector('#limits tbody tr') && /^run\b/.test(`+state+`)`)
	var charts, verdict string
	var drawn, described int
	var picture []byte
	run(browser,
		chromedp.Evaluate(`[...document.querySelectorAll('h3')].map(h => h.textContent).join('; ')`, &charts),
		chromedp.Evaluate(`[...document.querySelectorAll('.plot')].filter(p => p.querySelector('svg')).length`, &drawn),
		chromedp.Evaluate(`[...document.querySelectorAll('.plot')].filter(p => (p.getAttribute('aria-label') || '').length > 20).length`, &described),
		chromedp.Evaluate(`document.querySelector('#limits tbody tr').textContent`, &verdict),
		chromedp.FullScreenshot(&picture, 100))
	browsertest.Keep(t, "live.png", picture)
	want := []string{"Orders per minute", "Response time of orders", "Requests of the drives", "Latency of the drives", "Busy time of the drives", "Processors"}
	if charts != strings.Join(want, "; ") || drawn != len(want) || described != len(want) {
		t.Errorf("charts %q, %d drawn, %d described", charts, drawn, described)
	}
	if !strings.HasPrefix(verdict, "order p95 < 10m") || !strings.HasSuffix(verdict, "holds") {
		t.Errorf("the limit is shown as %q", verdict)
	}
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	await(second, `/has ended; its record is in/.test(`+state+`)`)
	p.awaitEnd(t)
}
