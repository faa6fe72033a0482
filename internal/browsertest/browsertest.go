// Package browsertest gives tests a real Chromium, which notes what a page does wrong: an
// exception, a warning on its console, a request of anything but what it may ask for.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Start starts a headless Chromium with one tab. Without a Chromium the test is skipped, or fails
// where DS2_TEST_CHROMIUM is set, as in CI. What its pages do wrong fails the test; they may ask
// for what begins with allowed only.
func Start(t *testing.T, allowed string) context.Context {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		require.Equal(t, "", os.Getenv("DS2_TEST_CHROMIUM"), err)
		t.Skip(err)
	}
	options := append(
		chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium),
		chromedp.WindowSize(1200, 1600),
		chromedp.WSURLReadTimeout(5*time.Minute),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox does not work for root
	}
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	return Tab(t, allocator, allowed)
}

// Tab opens one more tab of a browser.
func Tab(t *testing.T, browser context.Context, allowed string) context.Context {
	t.Helper()
	tab, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	chromedp.ListenTarget(tab, func(event any) {
		if tab.Err() != nil { // the test may have ended
			return
		}
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, allowed) &&
				!strings.HasPrefix(e.Request.URL, "data:") {
				t.Errorf("request of %s", e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			t.Errorf("exception: %s", e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				t.Errorf("console: %s", e.Args[0].Value)
			}
		case *log.EventEntryAdded:
			t.Errorf("log: %s %s", e.Entry.Text, e.Entry.URL)
		}
	})
	require.NoError(t, chromedp.Run(tab, network.Enable(), log.Enable()))
	return tab
}

// Colours makes the browser one of a reader who wants light or dark pages and no animation.
func Colours(scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	})
}

// Drawn waits until a page that is seen has drawn its charts anew, in new colours or another width:
// they do so a frame later.
func Drawn() chromedp.Action {
	const frames = `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))`
	await := func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}
	return chromedp.Evaluate(frames, nil, await)
}

// Keep leaves a picture of the window, or of the whole page, where DS2_TEST_ARTIFACTS names a
// directory.
func Keep(name string, page bool) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		artifacts := os.Getenv("DS2_TEST_ARTIFACTS")
		if artifacts == "" {
			return nil
		}
		var picture []byte
		capture := chromedp.CaptureScreenshot(&picture)
		if page {
			capture = chromedp.FullScreenshot(&picture, 100)
		}
		if err := capture.Do(ctx); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(artifacts, name), picture, 0o644)
	})
}
