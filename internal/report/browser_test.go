package report

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ds2/internal/browsertest"
	"ds2/internal/diagnose"
	"ds2/internal/monitor"
)

// TestBrowser opens the pages in a headless Chromium: they draw their charts, in light and in dark, complain of nothing
// and ask the network for nothing.
func TestBrowser(t *testing.T) {
	r := record(t, nil)
	r.Host.Columns = []string{"disk.nvme0n1.reads_per_second", "disk.nvme0n1.writes_per_second", "disk.sda.reads_per_second", "disk.sda.writes_per_second",
		"db.cache_hit_ratio", "client.resident_bytes", "db.temporary_bytes_per_second"}
	for second := 1; second <= 70; second++ {
		x := float64(second)
		r.Host.Rows = append(r.Host.Rows, monitor.Row{Time: r.Start.Add(time.Duration(second) * time.Second),
			Values: []float64{400 + x, 300 - x, 40 + x/7, 90 + 10*math.Sin(x/9), .984 + .003*math.Sin(x/9), 2e7, 0}})
	}
	r.Checkpoints = []monitor.Checkpoint{{From: 22, To: 30}, {From: 52, To: 60}}
	bench := benchOf("ssd", diagnose.Storage, 6412.3, 6512.7, 6601.9, 6550.2, 6302.5)
	bench.RunsCI95, bench.Dir = new(120.), t.TempDir()
	bench.Runs[4].Counts, bench.Runs[4].Faults = false, []string{"drive nvme0n1 held itself back for its heat: 3 times"}
	for i := range 3 {
		if err := os.Rename(record(t, eventful).Dir, filepath.Join(bench.Dir, fmt.Sprintf("run-%d", i+1))); err != nil {
			t.Fatal(err)
		}
	}
	var benchPage, tunePage bytes.Buffer
	if err := BenchHTML(&benchPage, bench); err != nil {
		t.Fatal(err)
	}
	if err := TuneHTML(&tunePage, search(), nil); err != nil {
		t.Fatal(err)
	}
	comparison := compare(t, "disks="+r.Dir, "ssd="+record(t, nil).Dir)
	dir := t.TempDir()
	pages := []struct {
		name, html string
		charts     int
	}{
		{"report", html(t, r, record(t, nil)), 4 + 4 + 4},
		{"compare", comparison, 4},
		{"bench", benchPage.String(), 4 + 4},
		{"tune", tunePage.String(), 3},
	}

	browser := browsertest.Start(t, "file://"+dir)

	for _, page := range pages {
		path := filepath.Join(dir, page.name+".html")
		if err := os.WriteFile(path, []byte(page.html), 0o644); err != nil {
			t.Fatal(err)
		}
		var charts, drawn, described int
		var light, dark string
		var day, night, phone []byte
		var overflow int // pixels that the page is wider than a phone
		const background = `getComputedStyle(document.body).backgroundColor`
		err := chromedp.Run(browser,
			browsertest.Colours("light"),
			chromedp.EmulateViewport(1280, 900),
			chromedp.Navigate("file://"+path),
			chromedp.Evaluate(`document.querySelectorAll('details.chart').forEach(d => d.open = true), document.querySelectorAll('.plot').length`, &charts),
			chromedp.Evaluate(`[...document.querySelectorAll('.plot')].filter(p => p.querySelector('svg path[fill="none"]')).length`, &drawn),
			chromedp.Evaluate(`[...document.querySelectorAll('.plot')].filter(p => (p.getAttribute('aria-label') || '').length > 20).length`, &described),
			chromedp.Evaluate(background, &light),
			chromedp.FullScreenshot(&day, 100),
			browsertest.Colours("dark"),
			chromedp.Evaluate(background, &dark),
			chromedp.FullScreenshot(&night, 100),
			browsertest.Colours("light"),
			chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile),
			chromedp.Evaluate(`document.documentElement.scrollWidth - innerWidth`, &overflow),
			chromedp.FullScreenshot(&phone, 100),
			chromedp.EmulateViewport(1280, 900),
		)
		if err != nil {
			t.Fatal(err)
		}
		if charts != page.charts || drawn != page.charts || described != page.charts {
			t.Errorf("%s: %d charts, %d of them drawn, %d described; want %d", page.name, charts, drawn, described, page.charts)
		}
		if overflow > 0 {
			t.Errorf("%s is %d pixels wider than a phone: only its tables may scroll sideways", page.name, overflow)
		}
		if light == dark {
			t.Errorf("%s is %s by day and by night", page.name, light)
		}
		for name, content := range map[string][]byte{"-light.png": day, "-dark.png": night, "-phone.png": phone} {
			browsertest.Keep(t, page.name+name, content)
		}
	}
}
