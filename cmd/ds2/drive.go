package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/experiment"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/workload"
)

// driveOutput is how a run is shown and what follows it.
type driveOutput struct {
	metricsFlags
	shownFlags
	detailed bool                        // the lines of format ds2
	restart  func(context.Context) error // of the target's server, where it is the kit's own
}

func newDriveCommand() *cobra.Command {
	var f runFlags
	var check bool
	run := func(i *interrupts, cmd *cobra.Command, _ []string) error {
		if check && f.output.format == "ds2" {
			return usageError("--output ds2: a check is printed as text or json")
		}
		if check {
			return newChecklist(cmd, &f).run(i, cmd, &f)
		}
		return f.drive(i, cmd)
	}
	cmd := newCommand("drive", interruptible(firstOfRun, run))
	// What DVD Store calls a driver, other benchmarks call run.
	cmd.SuggestFor = []string{"run"}
	addDriveFlags(cmd.Flags(), &f)
	declare(cmd.Flags(), "run", fields{"check": &check})
	return cmd
}

func addDriveFlags(flags *pflag.FlagSet, f *runFlags) {
	f.add(flags)
	flags.Lookup("run-time").Usage += "; 0 = until stopped"
	f.output.shownFlags.add(flags, "run")
	f.addBeside(flags)
}

// What the first Ctrl-C does to a run, to the runs of a bench or a search, and to those of an
// experiment.
const (
	firstOfRun   = "orders in flight end, then the record is written"
	firstOfBench = firstOfRun + continued
	firstOfFile  = firstOfRun + "; the same command continues"

	continued = "; the same command, with --out and the directory of the records, continues"
)

// firstOfRuns is what the first Ctrl-C does instead while no users are at work.
var firstOfRuns = map[string]string{
	firstOfRun:   "no users are at work, so the command ends",
	firstOfBench: "no users are at work, so the command ends" + continued,
	firstOfFile:  "no users are at work, so the command ends; the same command continues",
}

// judgeRun refuses flags that make no run: all that can be told before anything is started, loaded
// or connected to. A demo or an experiment then fails at once, and not after its load or its first
// restore.
func (f *runFlags) judgeRun() error {
	_, err := f.judge()
	return err
}

// checkSeveral refuses a directory of --out whose runs, as read finds them, cannot be continued.
func checkSeveral[T any](out string, read func(dir string) (T, error)) error {
	if out == "" {
		return nil
	}
	return outError(experiment.Check(out, read))
}

// drive is one run from the flags to the result.
func (f *runFlags) drive(i *interrupts, cmd *cobra.Command) error {
	stdout := cmd.OutOrStdout()
	o := &f.output
	if err := cmp.Or(f.judgeRun(), checkOut(f.out)); err != nil {
		return err
	}
	options, done, err := f.ready(i, &checklist{
		w: i.stderr, quiet: o.quiet, lock: "drive", runID: f.RunID,
		fits: func(w workload.Workload) error { return o.shows(w.Name()) },
	}, cmd)
	if err != nil {
		return err
	}
	defer done()
	if err := o.serve(i, cmd, o.quiet, options.Dir); err != nil {
		return err
	}
	conduct := o.conduct(i, stdout)
	stop := i.Stop
	run, summary, outcome := conduct.MakeRun(stop, options)
	if run != nil {
		// In the end, when the limits are judged and the audit is over.
		defer o.push(i, run)
	}
	if !outcome.Status.CameToEnd() {
		// What was measured until a run failed or was interrupted is shown too; the exit code is
		// that of its end.
		if len(summary.Phases) > 0 {
			if err := printResult(stdout, i.stderr, o, options.Dir, summary); err != nil {
				warn(i.stderr, "%s", redact(err.Error()))
			}
		}
		if run != nil {
			fmt.Fprintf(i.stderr, "record: %s\n", options.Dir)
		}
		return outError(outcome.Err)
	}
	if options.RunTime.Duration == 0 &&
		stop.Soft.Err() != nil { // the first signal was the end of the run only
		stop.Soft = stop.Hard
	}
	summary, err = conduct.Verify(stop, run)
	printErr := printResult(stdout, i.stderr, o, options.Dir, summary)
	fmt.Fprintf(i.stderr, "record: %s\n", options.Dir)
	// An audit that could not be made outweighs a limit that failed, and both that the result could
	// not be printed.
	return cmp.Or(err, verdictOf(summary.Findings), printErr)
}

// shows refuses a format that runs of a workload have none of.
func (o *driveOutput) shows(workload string) error {
	if o.format == "ds2" && !tenants()[workload].ds2Lines {
		return usageError(
			"--output ds2: workload %s has no orders, which these lines count: use text or json",
			workload,
		)
	}
	return nil
}

// conduct is how runs are shown, and what follows them.
func (o *driveOutput) conduct(i *interrupts, stdout io.Writer) runs.Conduct {
	return runs.Conduct{
		Locked:  i.locked,
		Restart: o.restart,
		Show: func(run *runs.Run) func(result.Summary) {
			return o.show(i, run, stdout)
		},
		Judged:   func(run *runs.Run) { o.push(i, run) },
		Progress: showProgress(o.quiet, i.stderr),
		Tell:     func(format string, args ...any) { fmt.Fprintf(i.stderr, format+"\n", args...) },
	}
}

// printResult prints the record as text or JSON. Where it could not be written to the end, because
// the disk was full perhaps, all that the run came to is printed: that is nowhere else. DS2's lines
// have been printed already, and say nothing of the audit and of what to hold against the run.
func printResult(w, stderr io.Writer, o *driveOutput, dir string, came result.Summary) error {
	if o.format == "ds2" {
		w = unlessQuiet(o.quiet, stderr)
	}
	record, err := result.Read(dir)
	unsaved := err != nil || record.Status == result.Running
	if unsaved {
		record = &result.Record{Summary: came}
	}
	if o.format == "json" {
		return errors.Join(err, printJSON(w, record.Summary))
	}
	if !unsaved {
		record.Command = nil // it was typed a moment ago; reports have it
	}
	return errors.Join(err, report.Runs(record).Text(w, o.details || unsaved, columns(w)))
}
