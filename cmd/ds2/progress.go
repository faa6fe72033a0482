package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"ds2/internal/live"
	"ds2/internal/measure"
	"ds2/internal/numbers"
	"ds2/internal/progress"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/runs"
)

// showProgress shows long jobs on w.
func showProgress(quiet bool, w io.Writer) progress.View {
	return func(job string, unit progress.Unit) (progress.Tell, func()) {
		if quiet {
			return progress.Ignore, func() {}
		}
		e := progress.NewEstimate()
		var amount func(int64) string
		if unit == progress.Bytes {
			amount = bytesText
		}
		return e.Tell, showLines(w, func() string {
			return jobLine(job, e.State(), amount)
		}, false)
	}
}

// jobLine is how a job stands, in a line: its name alone before anything is told.
func jobLine(job string, s progress.State, amount func(int64) string) string {
	return strings.TrimSuffix(job+": "+s.Text(amount), ": ")
}

// show shows a run while it goes on: by a line that changes, or DS2's own lines.
func (o *driveOutput) show(
	i *interrupts,
	run *runs.Run,
	stdout io.Writer,
) (end func(result.Summary)) {
	options := run.Options()
	i.served.show(live.ShowRun(run), collector(run))
	i.driving.Store(true)
	if !o.quiet && options.Place.Number <= 1 { // the runs after the first are alike
		fmt.Fprintln(i.stderr, schedule(options.Spec, time.Now()))
	}
	lines := ds2Lines{
		meter: run.Meter(), detailed: o.detailed,
		locale: cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_TIME"), os.Getenv("LANG")),
	}
	stop := func() {}
	switch {
	case o.quiet:
	case o.format == "ds2":
		stop = startTicking(progressEvery, func() { lines.print(stdout) })
	default:
		stop = showLines(i.stderr, func() string { return stands(run) }, true)
	}
	return func(summary result.Summary) {
		i.driving.Store(false)
		stop()
		if o.format == "ds2" && len(summary.Phases) > 0 {
			lines.final(stdout, time.Now())
		}
		i.served.rest(report.Headline(summary))
	}
}

// stands is how a run stands, in a line. Its rate is over the last ten seconds and its p95 over the
// last sample, a second; cumulative is the average of the run phase so far.
func stands(run *runs.Run) string {
	if doing := run.Doing(); doing != "" {
		return doing
	}
	o := run.Options()
	meter := run.Meter()
	phase := meter.Phase()
	now := meter.Progress()
	last := now.Last
	if last.End == 0 {
		return fmt.Sprintf("%-7s %d users", phase, o.Threads*len(o.Databases))
	}
	total, errors := measure.Sum(meter.Totals())
	left := ""
	if length := o.Length(); length > last.End {
		left = fmt.Sprintf(", %s left", (length - last.End).Round(time.Second))
	}
	words := o.Plan.Workload().Words()
	undone := ""
	if words.Undone != "" {
		undone = fmt.Sprintf("  %s %d", words.Undone, total.Of(words.Undone))
	}
	figure := ""
	if iops := run.IOPS(); iops >= 0 && words.Unit == result.IOPS { // not NaN
		figure = fmt.Sprintf("  %s %.0f", result.IOPS, iops)
	}
	p95 := "-" // nothing was completed
	if last.Counts.Orders > 0 {
		p95 = fmt.Sprintf("%.1f ms", last.P95)
	}
	line := fmt.Sprintf("%-6s %s%s  %d users%s  %s %.0f  p95 %s  errors %d",
		phase, last.End.Round(time.Second), left, last.Users, figure,
		words.Rate, now.Last10s, p95, errors)
	if last.HeldUp > 0 {
		line += fmt.Sprintf(", %d users held up by them", last.HeldUp)
	}
	line += undone
	if total.Offered > 0 {
		line += fmt.Sprintf("  dropped %d of %d", total.Dropped, total.Offered)
	}
	if waits := run.Warming(); waits != "" {
		line += "  measuring waits: " + waits
	}
	// The last, as a narrow terminal shows the beginning.
	return fmt.Sprintf("%s  cumulative %.0f", line, now.Cumulative)
}

// showLines shows a line that changes, until stop is called: on a terminal it is drawn again each
// second, and the last one is kept or not, elsewhere a new one is written every ten seconds.
func showLines(w io.Writer, line func() string, keep bool) (stop func()) {
	s := screenOn(w)
	if _, ok := s.terminal(); !ok {
		return startTicking(progressEvery, func() { fmt.Fprintln(w, line()) })
	}
	halt := startTicking(time.Second, func() { s.draw(line()) })
	return func() { halt(); s.endDrawn(keep) }
}

// bytesText is a number of bytes for people.
var bytesText = numbers.Bytes

// progressEvery is how often a progress that is not on a terminal writes its line.
var progressEvery = 10 * time.Second

// startTicking calls show every so often, until stop is called, which returns when show will not be
// called again. Stop may be called twice.
func startTicking(every time.Duration, show func()) (stop func()) {
	return progress.Watch(context.Background(), every, func(context.Context) bool {
		show()
		return true
	})
}
