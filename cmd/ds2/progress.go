package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"ds2/internal/progress"
)

// showProgress shows long jobs on w: on a terminal a line that is drawn again each second, elsewhere a line every ten
// seconds.
func showProgress(quiet bool, w io.Writer) progress.View {
	if quiet {
		return func(string, progress.Unit) (progress.Tell, func()) { return progress.Ignore, func() {} }
	}
	return func(job string, unit progress.Unit) (progress.Tell, func()) {
		e := progress.NewEstimate()
		var amount func(int64) string
		if unit == progress.Bytes {
			amount = bytesText
		}
		return e.Tell, showLines(w, func() string { return job + ": " + e.State().Text(amount) })
	}
}

// showLines shows a line that changes, until stop is called.
func showLines(w io.Writer, line func() string) (stop func()) {
	if !isTerminal(w) {
		return startTicking(progressEvery, func() { fmt.Fprintln(w, line()) })
	}
	halt := startTicking(time.Second, func() { fmt.Fprint(w, redraw, clip(line(), w)) })
	return func() { halt(); fmt.Fprint(w, redraw) }
}

// redraw takes what stands in the terminal's line away.
const redraw = "\r\x1b[K"

// bytesText is a number of bytes for people, in decimal units as disks are sold: "13.4 GB".
func bytesText(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	v, unit := float64(n)/1000, 0
	for v >= 999.95 && unit < 3 {
		v, unit = v/1000, unit+1
	}
	return fmt.Sprintf("%.1f %cB", v, "kMGT"[unit])
}

// progressEvery is how often a progress that is not on a terminal writes its line.
var progressEvery = 10 * time.Second

// isTerminal says whether what is written or read is a terminal's.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// startTicking calls show every so often, until stop is called, which returns when show will not be called again. Stop
// may be called twice.
func startTicking(every time.Duration, show func()) (stop func()) {
	return progress.Watch(context.Background(), every, func(context.Context) bool { show(); return true })
}
