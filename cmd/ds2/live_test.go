package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"ds2/internal/browsertest"
	"ds2/internal/localpg/pgtest"
)

// TestLivePage looks at a bench in a real browser, in two tabs: figures that move, the charts of the report, a limit, the run
// that follows the first, and the end. Nothing comes from anywhere else.
func TestLivePage(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a bench of two runs")
	}
	t.Parallel()
	target := pgtest.Database(t)
	must(t, "load", "--target", target, "--size", "5MB", "--quiet")
	p := startProgram(t, "bench", "--target", target, "--threads", "2", "--ramp-rate", "100", "--warmup-time", "3s", "--run-time", "40s", "--runs", "2",
		"--restore", "none", "--settle", "3s", "--idle", "0", "--cooldown", "0", "--limit", "order p95 < 10s", "--abort-on-fail", "5s", "--keep-faulty",
		"--metrics-addr", "127.0.0.1:0", "--out", "out")
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
		t.Fatalf("waited in vain for %s; the page is at %q", what, state)
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
		var before, after, title string
		await(tab, `/ OPM$/.test(`+headline+`) && document.querySelector('#live-opm svg path[fill="none"]')`)
		run(tab, chromedp.Evaluate(opm, &before), chromedp.Sleep(2500*time.Millisecond), chromedp.Evaluate(opm, &after),
			chromedp.Evaluate(`document.querySelector('#title').textContent`, &title))
		if before == after {
			t.Errorf("tab %d: nothing moves", i+1)
		}
		if !strings.Contains(title, "postgres, size 5MB, 2 users") {
			t.Errorf("tab %d: the title is %q", i+1, title)
		}
	}
	await(browser, `document.querySelector('#limits tbody tr') && /^run\b.* left.*run 1 of 2, .* left, until/.test(`+state+`)`)
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
	if !strings.HasPrefix(verdict, "order p95 < 10s") || !strings.HasSuffix(verdict, "holds") {
		t.Errorf("the limit is shown as %q", verdict)
	}
	await(second, `/run-2: settling/.test(`+state+`)`)
	await(second, `/ OPM$/.test(`+headline+`) && /^run\b.*run 2 of 2/.test(`+state+`)`)
	await(second, `/has ended; its record is in/.test(`+state+`)`)
	if !p.endsWithin(patience) || p.ProcessState.ExitCode() != exitDone {
		t.Errorf("the bench: %s\n%s", p.ProcessState, p.stderr.String())
	}
}
