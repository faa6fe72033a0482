package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/atomicfile"
	"ds2/internal/compare"
	"ds2/internal/experiment"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/upkeep"
)

// benchFlags are those of a run, and the procedure around it.
type benchFlags struct {
	runFlags
	restore restoreFlags
	archive string // that the records are packed into, too
}

func newBenchCommand() *cobra.Command {
	var f benchFlags
	cmd := newCommand("bench", interruptible(firstOfBench, f.run))
	flags := cmd.Flags()
	declare(flags, "bench", fields{"runs": &f.Runs})
	f.add(flags)
	f.output.shownFlags.add(flags, "bench")
	return cmd
}

func (f *benchFlags) add(flags *pflag.FlagSet) {
	f.restore.add(flags)
	declare(flags, "bench", fields{
		"settle":        &f.Settle,
		"idle":          &f.Idle,
		"cooldown":      &f.Cooldown,
		"practice":      &f.Practice,
		"drop-unsteady": &f.DropUnsteady,
		"out":           &f.out,
	})
	f.runFlags.add(flags)
	// The storage report's run: 32 users for 20 minutes (WORKLOAD.md section 6). By a checkpoint
	// first all runs have the same part of a checkpoint cycle, and none writes what its restore
	// changed.
	preset(flags, "threads=32", "run-time=20m", "checkpoint-first=true")
	f.addBeside(flags)
}

// check refuses flags that make no bench, before anything is connected to, and notes in the record
// how the databases are restored.
func (f *benchFlags) check() error {
	switch {
	case f.RunTime.Duration == 0:
		return usageError("--run-time is 0: it must be more for a bench")
	case f.startAt != "":
		return usageError("--start-at is for a single run: a bench starts each when the database has been restored")
	}
	// The state that runs begin from makes them what they are: a bench that was begun with another
	// restore is not continued.
	f.Restore = f.restore.RestoreName()
	f.RestoreCommand = withoutPasswords(f.restore.Command)
	f.DiscardLog = f.restore.DiscardLog
	return checkSeveral(f.out, result.ReadSummary[result.Bench])
}

// run makes the runs that the record lacks, and shows what all come to. The HTML page is written
// whatever is printed.
func (f *benchFlags) run(i *interrupts, cmd *cobra.Command, _ []string) error {
	if filepath.Ext(f.out) == result.ArchiveExt {
		f.archive = f.out
		f.out = strings.TrimSuffix(f.out, result.ArchiveExt)
	}
	if err := f.check(); err != nil {
		return err
	}
	options, done, err := f.ready(i, f.checklist(i, "bench"), cmd)
	if err != nil {
		return err
	}
	defer done()
	bench, err := f.takeUp(cmd.Flags().Changed("seed"), &options)
	if err != nil {
		return err
	}
	// One that has all its runs is only reported again; --runs may have been raised since.
	if bench.Status != result.Done || !compare.Enough(bench) {
		if err := f.output.serve(i, cmd, f.output.quiet, options.Dir); err != nil {
			return err
		}
		procedure := f.procedure(i, options)
		procedure.Summary = bench
		err = procedure.Do(i.Hard, i.Soft)
	}
	fmt.Fprintf(i.stderr, "record: %s\n", options.Dir)
	if err != nil {
		return err
	}
	// As any reader of the record sees it: what came of the bench is concluded in one place.
	one, err := reportOf(reader(), []string{options.Dir}, false)
	if err != nil {
		return err
	}
	if err := one.publish(cmd, options.Dir, f.output.formatFlags); err != nil {
		return err
	}
	if f.archive != "" {
		if err := atomicfile.Write(f.archive, func(w io.Writer) error {
			return result.Pack(w, options.Dir)
		}); err != nil {
			return err
		}
		fmt.Fprintf(i.stderr, "archive: %s\n", f.archive)
	}
	return verdictOf(one.record.(result.Bench).Findings)
}

// checklist is that on the way to the runs of a bench, whose databases can be restored between
// them.
func (f *benchFlags) checklist(i *interrupts, lock string) *checklist {
	return &checklist{w: i.stderr, quiet: f.output.quiet, lock: lock, fits: f.restore.check}
}

// takeUp takes up the bench in the options' directory, or begins it.
func (f *benchFlags) takeUp(seedGiven bool, o *runs.Options) (result.Bench, error) {
	bench, err := experiment.TakeUpBench(o, seedGiven)
	if err != nil {
		return bench, outError(err)
	}
	// A meter's logger may have written more of its log since the runs were made: their watts are
	// read from it again.
	if f.observe.PowerLog != "" {
		if err := experiment.CompleteBench(*o, &bench); err != nil {
			return bench, err
		}
	}
	compare.Runs(&bench)
	return bench, nil
}

// outError has an error of the directory of the records be one of its flag.
func outError(err error) error {
	if _, bad := errors.AsType[*experiment.DirError](err); bad ||
		errors.Is(err, result.ErrNotEmpty) {
		return flagError("out", err)
	}
	return err
}

// planned is how long a run takes, without restore and audit, whose times depend on the database
// and its drives, and are known once a run was made.
func (f *benchFlags) planned() time.Duration {
	return f.Settle.Duration + f.Idle.Duration + f.length() + f.Cooldown.Duration
}

// length is how long users run, also before the targets are opened. The ramp takes longer the more
// targets there are: ramp_rate is of all users, and each target has as many.
func (f *benchFlags) length() time.Duration {
	spec := f.Spec
	if urls, err := f.urls(); err == nil {
		spec.Targets = urls
	}
	return spec.Length()
}

// procedure is how a run of the bench is made: what is restored, waited for, run and audited. The
// experiment calls it for each configuration.
func (f *benchFlags) procedure(i *interrupts, options runs.Options) *experiment.Bench {
	restore := f.restore.to(i.stderr)
	// What a run came to is in its record; standard output is for what all come to.
	conduct := f.output.conduct(i, io.Discard)
	bench := &experiment.Bench{
		Dir:     options.Dir,
		Planned: f.planned(),
		Ready: func(ctx context.Context) error {
			for _, t := range options.Databases {
				if err := t.DB().PingContext(ctx); err != nil {
					return t.Wrap("connect to "+t.Label(), err)
				}
			}
			return nil
		},
		Run: func(dir string, place runs.Place) (result.Summary, error) {
			return conduct.BenchRun(i.Stop, options, dir, place)
		},
		Verify: func(dir string) (result.Summary, error) {
			return conduct.VerifyRecord(i.Stop, options, dir)
		},
		Told:    f.output.told(i),
		Changed: i.served.list,
	}
	if restore.RestoreName() != upkeep.RestoreNone {
		bench.Restore = func(ctx, stop context.Context) error {
			return restore.RestoreTargets(ctx, stop, options.Databases)
		}
	}
	return bench
}

// told says what a bench is at, on the live page and, unless quiet, on the terminal.
func (o *driveOutput) told(i *interrupts) func(format string, args ...any) {
	return func(format string, args ...any) {
		i.served.doing(format, args...)
		if !o.quiet {
			fmt.Fprintf(i.stderr, format+"\n", args...)
		}
	}
}
