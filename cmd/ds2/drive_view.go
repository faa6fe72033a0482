package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/runs"
)

// view shows a run while it goes on: a line on a terminal that is redrawn every second, elsewhere a line every ten
// seconds, or DS2's own lines.
type view struct {
	run  *runs.Run
	ds2  ds2Lines
	stop func() // ends the showing
}

func startView(run *runs.Run, o *driveOutput, stdout, stderr io.Writer) *view {
	v := &view{run: run, ds2: ds2Lines{
		meter: run.Meter(), detailed: o.detailed,
		locale: cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_TIME"), os.Getenv("LANG")),
	}}
	every, show, end := progressEvery, func() { fmt.Fprintln(stderr, v.line()) }, func() {}
	switch {
	case o.quiet:
		show = func() {}
	case o.format == "ds2":
		show = func() { v.ds2.print(stdout) }
	case isTerminal(stderr):
		every = time.Second
		show = func() { fmt.Fprintf(stderr, redraw+"%s", clip(v.line(), stderr)) }
		end = func() { fmt.Fprintln(stderr) }
	}
	halt := startTicking(every, show)
	v.stop = func() { halt(); end() }
	return v
}

func (v *view) line() string {
	if doing := v.run.Doing(); doing != "" {
		return doing
	}
	o, meter := v.run.Options(), v.run.Meter()
	phase, progress := meter.Phase(), meter.Progress()
	last := progress.Last
	if last.End == 0 {
		return fmt.Sprintf("%-7s %d users", phase, o.Threads*len(o.Targets))
	}
	total, errors := measure.Sum(meter.Totals())
	left := ""
	if length := o.Length(); length > last.End {
		left = fmt.Sprintf(", %s left", (length - last.End).Round(time.Second))
	}
	words, undone := o.Plan.Workload().Words(), ""
	if words.Undone != "" {
		undone = fmt.Sprintf("  %s %d", words.Undone, total.Of(words.Undone))
	}
	figure := ""
	if iops, measured := v.run.IOPS(); measured && words.Unit == result.IOPS {
		figure = fmt.Sprintf("  %s %.0f now", result.IOPS, iops)
	}
	p95 := "-" // nothing was completed
	if last.Counts.Orders > 0 {
		p95 = fmt.Sprintf("%.1f ms", last.P95)
	}
	line := fmt.Sprintf("%-6s %s%s  %d users%s  %s %.0f now, %.0f cumulative  errors %d",
		phase, last.End.Round(time.Second), left, last.Users, figure,
		words.Rate, progress.Last10s, progress.Cumulative, errors)
	if last.HeldUp > 0 {
		line += fmt.Sprintf(", %d users held up by them", last.HeldUp)
	}
	line += "  p95 " + p95 + undone
	if total.Offered > 0 {
		line += fmt.Sprintf("  dropped %d of %d", total.Dropped, total.Offered)
	}
	if waits := v.run.Warming(); waits != "" {
		line += "  measuring waits: " + waits
	}
	return line
}

// clip cuts a line to the width of the terminal, so that it can be drawn over.
func clip(line string, w io.Writer) string {
	if text, width := []rune(line), columns(w); width > 0 && len(text) >= width {
		return string(text[:width-1])
	}
	return line
}

// columns is the width of a terminal; 0 where it is none, or does not know its width.
func columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
