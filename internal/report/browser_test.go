package report

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ds2/internal/host"
)

// TestBrowser opens the page in a headless Chromium: it draws its charts, in light and in dark, complains of nothing and
// asks the network for nothing. Without a Chromium the test is skipped, or fails where DS2_TEST_CHROMIUM is set, as in
// CI. Where DS2_ARTIFACTS names a folder, pictures of the page are left there.
func TestBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("DS2_TEST_CHROMIUM") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	r := record(t, nil)
	r.Host.Columns = []string{"disk.sda.reads_per_second"}
	for second := 1; second <= 70; second++ {
		r.Host.Rows = append(r.Host.Rows, host.Row{Time: r.Start.Add(time.Duration(second) * time.Second), Values: []float64{float64(second)}})
	}
	page := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(page, []byte(html(t, r, record(t, nil))), 0o644); err != nil {
		t.Fatal(err)
	}

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.WindowSize(1200, 1600),
		chromedp.WSURLReadTimeout(time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox does not work for root
	}
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	defer cancel()
	browser, cancel := chromedp.NewContext(allocator)
	defer cancel()
	var mu sync.Mutex
	var complaints []string
	complain := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		complaints = append(complaints, fmt.Sprintf(format, args...))
	}
	chromedp.ListenTarget(browser, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "file://"+page) && !strings.HasPrefix(e.Request.URL, "data:") {
				complain("request of %s", e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			complain("exception: %s", e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				complain("console: %s", e.Args[0].Value)
			}
		case *log.EventEntryAdded:
			complain("log: %s", e.Entry.Text)
		}
	})

	var charts, drawn, described int
	var light, dark string
	var picture, night []byte
	const background = `getComputedStyle(document.body).backgroundColor`
	err = chromedp.Run(browser, network.Enable(), log.Enable(),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}),
		chromedp.Navigate("file://"+page),
		chromedp.Evaluate(`document.querySelectorAll('.plot').length`, &charts),
		chromedp.Evaluate(`[...document.querySelectorAll('.plot')].filter(p => p.querySelector('svg path[fill="none"]')).length`, &drawn),
		chromedp.Evaluate(`[...document.querySelectorAll('.plot')].filter(p => (p.getAttribute('aria-label') || '').length > 20).length`, &described),
		chromedp.Evaluate(background, &light),
		chromedp.FullScreenshot(&picture, 90),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: "dark"}, {Name: "prefers-reduced-motion", Value: "reduce"}}),
		chromedp.Evaluate(background, &dark),
		chromedp.FullScreenshot(&night, 90),
	)
	if err != nil {
		t.Fatal(err)
	}
	if want := 4 + 1 + 4; charts != want || drawn != want || described != want {
		t.Errorf("%d charts, %d of them drawn, %d described; want %d", charts, drawn, described, want)
	}
	if light == dark {
		t.Errorf("the page is %s by day and by night", light)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, c := range complaints {
		t.Error(c)
	}
	if dir := os.Getenv("DS2_ARTIFACTS"); dir != "" {
		for name, content := range map[string][]byte{"report-light.jpg": picture, "report-dark.jpg": night} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}
