package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ds2/internal/conclude"
	"ds2/internal/experiment"
	"ds2/internal/limit"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/tune"
)

// tuneFlags are those of a bench, whose users are searched for, and how to search.
type tuneFlags struct {
	benchFlags
	search result.SearchConfig
}

func newTuneCommand() *cobra.Command {
	var f tuneFlags
	cmd := newCommand("tune", interruptible(firstOfBench, f.run))
	flags := cmd.Flags()
	f.restore.add(flags)
	declare(flags, "tune", fields{
		"start-threads": &f.search.Start,
		"max-threads":   &f.search.Max,
		"confirm":       &f.search.Confirm,
		"out":           &f.out,
	})
	// Without those of an open loop, of events and of several driver machines: a trial is a closed
	// loop, driven from here alone.
	f.addShared(flags)
	// Trials, and the runs that confirm the last of them, only have to tell one number of users
	// from the next: they are shorter than those of a bench.
	preset(flags, "warmup-time=15s", "run-time=2m")
	f.output.shownFlags.add(flags, "tune")
	f.addBeside(flags)
	return cmd
}

// check refuses flags that make no search, before anything is connected to.
func (f *tuneFlags) check() error {
	switch {
	case f.search.Start > f.search.Max:
		return usageError("--start-threads is %d: it must be from 1 to --max-threads, %d",
			f.search.Start, f.search.Max)
	case f.RunTime.Duration == 0:
		return usageError("--run-time is 0: it must be more for a search")
	case f.AbortAfter.Duration > 0 && len(f.WindowTexts) > 0:
		return usageError("--abort-on-fail cannot be used with --window here: a run that ends early may lack the window")
	}
	if err := cmp.Or(f.runFlags.check(), checkSeveral(f.out, result.ReadSummary[result.Search]),
		f.parseLimits()); err != nil {
		return err
	}
	// A rate grows with the users until the store is saturated, so it bounds the search from below;
	// only response times, latencies and errors bound it from above.
	ofRate := func(l limit.Limit) bool {
		return l.Unit() == result.UnitOPM || l.Unit() == result.UnitIOPS
	}
	if !slices.ContainsFunc(f.limits, func(l limit.Limit) bool { return !ofRate(l) }) {
		return usageError(
			"--limit: name a limit that fails with too many users, such as 'order p95 < 200ms'",
		)
	}
	if f.AbortAfter.Duration > 0 && slices.ContainsFunc(f.limits, ofRate) {
		return usageError("--abort-on-fail cannot be used with a limit on opm or iops here: runs with few users are expected to miss it")
	}
	// What a trial with any number of users has: a closed loop, whose users wait for each other.
	f.Threads = f.search.Start
	f.Spacing = result.Even
	f.mailbox.Closed = true
	f.Restore = f.restore.RestoreName()
	return nil
}

// run makes or continues the search. Between trials the database is restored, so that each meets
// the same rows.
func (f *tuneFlags) run(i *interrupts, cmd *cobra.Command, _ []string) error {
	if err := f.check(); err != nil {
		return err
	}
	options, done, err := f.ready(i, f.checklist(i, "tune"), cmd)
	if err != nil {
		return err
	}
	defer done()
	dir := recordDir(f.out, options.RunID+"-tune")
	search := experiment.Search{
		Conduct: f.output.conduct(i, io.Discard),
		Dir:     dir, Options: options, Config: f.search, Restore: f.restore.to(i.stderr),
		Trial: func(t result.Trial, each time.Duration, all []result.Trial) {
			text := fmt.Sprintf("trial %d: %s%s", len(all), report.TrialText(t), f.left(all, each))
			fmt.Fprintln(i.stderr, text)
			i.served.doing("after %s", text)
		},
	}
	if err := search.TakeUp(cmd.Flags().Changed("seed")); err != nil {
		return outError(err)
	}
	fmt.Fprintf(i.stderr, "record: %s\n", dir)
	if made := search.Made(); made > 0 {
		fmt.Fprintf(i.stderr, "continued after %d trials\n", made)
	}
	if err := f.output.serve(i, cmd, f.output.quiet, dir); err != nil {
		return err
	}
	i.served.doing("trial 1")
	record, err := search.Do(i.Stop)
	// Figures of a trial that failed its audit are worth nothing, so the search ends; that is a
	// verdict on the store, not a failure of ds2.
	if e, ok := errors.AsType[*experiment.VerdictError](err); ok {
		return &exitError{exitVerdict, e}
	}
	if err != nil {
		return err
	}
	err = searchShown(record).publish(cmd, dir, f.output.formatFlags)
	switch {
	case err != nil:
		return err
	// One user is the least there is: where that cannot be judged, nothing can.
	case record.Users == 0 && tune.CannotTell(record.Trials, 1):
		return &exitError{exitUnknown, errors.New(record.Why + "; see the record")}
	case record.Users == 0:
		return verdictError("%s; see the record", record.Why)
	}
	return verdictOf(conclude.FindLimits(record.Verdicts))
}

// left says about how many trials are still to come, and how long they take.
func (f *tuneFlags) left(made []result.Trial, each time.Duration) string {
	n, known := tune.Left(f.search, made)
	switch {
	case !known:
		return ""
	case n == 0:
		return "; the last"
	}
	return fmt.Sprintf("; about %d more, %s", n, (time.Duration(n) * each).Round(time.Second))
}

func searchShown(r result.Search) shown { return shown{page: report.Search(r), record: r} }
