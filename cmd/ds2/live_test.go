package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"ds2/internal/browsertest"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
)

// TestLivePage looks at an experiment in a real browser, in two tabs: figures that move, the charts
// of the report, limits of the run and of the drives, what is known after a block, and the end.
// Nothing comes from anywhere else. Runs follow each other until all was seen.
func TestLivePage(t *testing.T) {
	nightly.Long(t, "starts a browser")
	t.Parallel()
	target := pgtest.Database(t)
	must(t, "load", "--target", target, "--size", "5MB", "--quiet")
	drive := result.Device{
		Format: result.DeviceFormat, Kind: "device",
		Log:   result.DevicePoint{Depth: 1, IOPS: 900, Mean: .001},
		Reads: []result.DevicePoint{{Depth: 1, IOPS: 600, Mean: .0016}},
	}
	record := filepath.Join(t.TempDir(), "drive.json")
	require.NoError(t, drive.Save(record))
	file := textFile(
		t,
		"arrays.yaml",
		fmt.Sprintf(`configurations: {hdd: {target: %q}, ssd: {target: %[1]q}}
runs: 100
threads: 2
run-time: 12s
limit: order p95 < 10m
abort-on-fail: 1s
device-record: %q
`, target, record)+strings.Replace(noPausesYAML, "''", "127.0.0.1:0", 1),
	)
	p := begin(t, "experiment", file, "--out", "out")
	page := "http://" + p.page(t) + "/"
	browser := browsertest.Start(t, page)
	second := browsertest.Tab(t, browser, page)
	run := func(tab context.Context, actions ...chromedp.Action) {
		t.Helper()
		ctx, cancel := context.WithTimeout(tab, patience)
		defer cancel()
		require.NoError(t, chromedp.Run(ctx, actions...))
	}
	// shows waits for what a tab says to be true. A hidden tab draws no frames, by which chromedp
	// itself would wait.
	shows := func(tab context.Context, what string) {
		t.Helper()
		await(t, what, func() (is bool) {
			run(tab, chromedp.Evaluate(`Boolean(`+what+`)`, &is))
			return is
		})
	}
	const (
		state    = `document.querySelector('#state').textContent`
		headline = `document.querySelector('#headline').textContent`
		// The lines of the first chart: the next second adds a point to them.
		opm = `[...document.querySelectorAll('#live-opm svg path[fill="none"]')].map(p => p.getAttribute('d')).join()`
	)
	tabs := []context.Context{browser, second}
	for _, tab := range tabs {
		run(
			tab,
			browsertest.Colours("light"),
			chromedp.EmulateViewport(1280, 900),
			chromedp.Navigate(page),
		)
	}
	for _, tab := range tabs {
		var before string
		shows(
			tab,
			`/ OPM, last 10 s$/.test(`+headline+`) && document.querySelector('#live-opm svg path[fill="none"]')`,
		)
		run(tab, chromedp.Evaluate(opm, &before))
		shows(tab, opm+` != '`+before+`'`) // it moves
	}
	// All of this at one moment, whichever run is under way then.
	want := []string{
		"Orders per minute (OPM)", "Response time of orders", "Requests of the drives",
		"Latency of the drives", "Busy time of the drives", "Processors",
	}
	plots := func(is string) string {
		return fmt.Sprintf(
			`[...document.querySelectorAll('#charts .plot')].filter(p => %s).length === %d`,
			is,
			len(want),
		)
	}
	shows(browser, strings.Join([]string{
		`/^(hdd|ssd), run .*postgres, size 5MB, 2 users/.test(document.querySelector('#title').textContent)`,
		`/^run\b.* left.*block \d+ of 100, run \d+ of 200, .* left, until/.test(` + state +
			`)`,
		`/^order p95 < 10m.*holds$/.test(document.querySelector('#limits tbody tr')?.textContent)`,
		`[...document.querySelectorAll('#charts h3')].map(h => h.textContent).join('; ') === '` + strings.Join(
			want,
			"; ",
		) + `'`,
		plots(`p.querySelector('svg')`),
		plots(`(p.getAttribute('aria-label') || '').length > 20`),
		`document.querySelector('#live-requests').textContent.includes('random reads that the drives can do')`,
	}, " && "))
	// After the first block, and in the same form as the report's first screen.
	for _, tab := range tabs {
		shows(tab, `/(hdd|ssd)/.test(document.querySelector('#found .headline')?.textContent) && `+
			`document.querySelector('#found .light')`+
			` && document.querySelector('#found .figures td') && document.querySelector('#found .plot svg')`)
	}
	shows(browser, `/^block \d+, (hdd|ssd), run-\d+.*running$/.test(`+
		`document.querySelector('#runs tbody tr')?.textContent) && `+
		`[...document.querySelectorAll('#runs tbody tr')].some(r => / OPM/.test(r.textContent))`)
	run(browser, cdpage.BringToFront())
	for _, colours := range []string{"light", "dark"} {
		for name, width := range map[string]int64{"wide": 1280, "phone": 390} {
			var overflow int
			run(
				browser,
				browsertest.Colours(colours),
				chromedp.EmulateViewport(width, 900),
				browsertest.Drawn(),
				chromedp.Evaluate(`document.documentElement.scrollWidth - innerWidth`, &overflow),
				browsertest.Keep("live-"+name+"-"+colours+".png", true),
			)
			require.LessOrEqual(
				t,
				overflow,
				0,
				"pixels that the page is wider than its window, %d",
				width,
			)
		}
	}
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	shows(second, `/has ended; its record is in/.test(`+state+`)`)
	p.awaitEnd(t)
}
