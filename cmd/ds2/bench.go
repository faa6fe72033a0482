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
	"ds2/internal/conclude"
	"ds2/internal/experiment"
	"ds2/internal/limit"
	"ds2/internal/report"
	"ds2/internal/result"
)

// benchFlags are those of a run, and the procedure around it.
type benchFlags struct {
	driveFlags
	observe observeFlags
	output  driveOutput
	setup   result.Setup
	restore restoreFlags

	settle, idle, cooldown time.Duration
}

func newBenchCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Repeat a run by the storage report's procedure; the run with the median OPM is the result",
		Long: `Makes several runs by the procedure of the storage report: restore the database, settle, measure idle power, run,
cool down. The run with the median OPM stands for the configuration. A run that fails, or whose audit fails, does not
count and is repeated. A run that was not steady counts, and the result says so; --drop-unsteady repeats it instead.

All records go into one directory. The same command with the same --out continues a bench that was interrupted or crashed;
--runs, --keep-marked and --drop-unsteady may be others then. A meter's log that arrives after the bench is added by --power-log.`,
		Example: `  ds2 bench --target postgres://ds2:ds2@localhost/ds2 --threads 32 --restore snapshot --out ds2-results/6-ssd
  ds2 bench --target postgres://ds2:ds2@db1/ds2 --prometheus http://monitor:9090 --restore-command ./restore-array.sh

PowerShell:
  ds2 bench --target 'sqlserver://sa:password@db1?database=DS2' --restore-command 'powershell -File restore-array.ps1' --out C:\ds2\6-ssd`,
		Args: flagsOnly,
		RunE: interruptible(firstOfRun, func(i *interrupts, cmd *cobra.Command, _ []string) error { return f.run(i, cmd) }),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&f.setup.Runs, "runs", 3, "runs that must count")
	f.add(flags)
	flags.VarP(oneOf(&f.output.format, "text", "json", "csv"), "output", "o", "format of the result")
	flags.BoolVarP(&f.output.quiet, "quiet", "q", false, "show nothing while the runs go on")
	return cmd
}

// add declares the flags of the procedure and of its runs.
func (f *benchFlags) add(flags *pflag.FlagSet) {
	f.restore.add(flags)
	f.settle, f.idle, f.cooldown = 8*time.Minute, 2*time.Minute, time.Minute
	flags.Var(durationValue{&f.settle, time.Minute}, "settle", "wait after the restore: minutes, or a time such as 90s")
	flags.Var(durationValue{&f.idle, time.Minute}, "idle", "then time over which idle power is measured: minutes, or a time such as 90s")
	flags.Var(durationValue{&f.cooldown, time.Minute}, "cooldown", "time that counters and power are measured after the run: minutes, or a time such as 90s")
	flags.BoolVar(&f.setup.KeepFaulty, "keep-marked", false, "let runs count whose audit failed, or beside which a drive held itself back for its heat")
	flags.BoolVar(&f.setup.DropUnsteady, "drop-unsteady", false, "do not let runs count that were not steady: repeat them, which flatters drives that are erratic")
	f.driveFlags.add(flags)
	preset(flags, "threads", "32")
	preset(flags, "run-time", "20m")
	flags.Lookup("run-time").Usage = "length of each run after the warm-up: minutes, or a duration such as 90s"
	preset(flags, "checkpoint-first", "true")
	flags.Lookup("out").Usage = "directory for the records; an unfinished bench in it is continued (default ds2-results/<start>-<run id>)"
	flags.Lookup("window").Usage += "; of runs that are long enough 1000s-1200s, as in the storage report"
	f.observe.add(flags)
	f.output.metricsFlags.add(flags)
	f.output.verify.add(flags)
}

func (f *benchFlags) check() error {
	switch {
	case f.setup.Runs < 1 || f.setup.Runs > 1000:
		return usageError("--runs is %d: it must be 1 to 1000", f.setup.Runs)
	case f.config.Run == 0:
		return usageError("--run-time is 0: the runs of a bench have an end")
	case f.startAt != "":
		return usageError("--start-at is for a single run: a bench starts each when the database has been restored")
	}
	if err := f.observe.check(); err != nil {
		return err
	}
	if err := f.output.metricsFlags.check(); err != nil {
		return err
	}
	if _, err := result.ReadBench(f.out); f.out != "" && errors.Is(err, result.ErrNoBench) {
		if err := result.CheckDir(f.out); err != nil {
			return flagError("out", err)
		}
	}
	if len(f.windows) == 0 && f.config.Length() >= 1200*time.Second {
		f.windows = []string{"1000s-1200s"}
	}
	return nil
}

func (f *benchFlags) run(interrupts *interrupts, cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	f.dvdStore.tell(stderr)
	options, err := f.experiment(interrupts.soft)
	if err != nil {
		return err
	}
	defer closeStores(options.Targets)
	options.Command = invocation(cmd)
	unlock, err := interrupts.lockStores("bench", "", options.Targets, stderr)
	if err != nil {
		return err
	}
	defer unlock()
	bench, err := f.prepare(interrupts.soft, cmd.Flags(), &options, stderr)
	if err != nil {
		return err
	}
	if bench.Status != result.Done || !conclude.Enough(bench) {
		close, openErr := f.output.open(cmd)
		if openErr != nil {
			return openErr
		}
		defer close()
		f.output.served.writes(options.Dir)
		bench, err = f.procedure(interrupts, options, stderr).Do(interrupts.hard, interrupts.soft.Done(), bench)
	}
	fmt.Fprintf(stderr, "record: %s\n", options.Dir)
	if err != nil && !errors.Is(err, experiment.ErrTooFew) {
		return err
	}
	one := report.Configuration{Name: filepath.Base(options.Dir), Dir: options.Dir, Bench: bench}
	page := filepath.Join(options.Dir, reportFile)
	if err := atomicfile.Write(page, func(w io.Writer) error { return report.BenchHTML(w, one) }); err != nil {
		return err
	}
	if err := writeBench(cmd.OutOrStdout(), one, f.output.format); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "report: %s\n", page)
	if err != nil {
		return verdictError("%w; see the record", err)
	}
	if !limit.Passed(bench.Limits) {
		return verdictError("limits failed: %s; see the record", limit.Failed(bench.Limits))
	}
	return nil
}

// experiment is each of the runs; an error where the databases cannot be restored between them.
func (f *benchFlags) experiment(ctx context.Context) (experiment.Options, error) {
	o, err := f.driveFlags.experiment(ctx)
	if err != nil {
		return o, err
	}
	if err := f.restore.check(o.Plan.Workload()); err != nil {
		closeStores(o.Targets)
		return o, err
	}
	return o, nil
}

// prepare takes up the bench in the options' directory, or begins it, and finds out what can be observed.
func (f *benchFlags) prepare(ctx context.Context, flags *pflag.FlagSet, o *experiment.Options, stderr io.Writer) (result.Bench, error) {
	bench, err := f.begin(flags, o)
	if err != nil {
		return bench, err
	}
	if err := f.observe.observe(ctx, o, f.output.quiet, stderr); err != nil {
		return bench, err
	}
	if f.observe.PowerLog != "" {
		if err := experiment.CompleteBench(ctx, *o, &bench); err != nil {
			return bench, err
		}
	}
	conclude.Bench(&bench)
	o.Idle, o.Cooldown = f.idle, f.cooldown
	return bench, nil
}

// planned is how long a run takes, without restore and audit.
func (f *benchFlags) planned() time.Duration {
	return f.settle + f.idle + f.length() + f.cooldown
}

// length is how long users run, also before the targets are opened.
func (f *benchFlags) length() time.Duration {
	c := f.config
	if urls, err := f.urls(); err == nil {
		c.Targets = urls
	}
	return c.Length()
}

// begin makes the bench's directory, or finds an unfinished bench in it to continue.
func (f *benchFlags) begin(flags *pflag.FlagSet, o *experiment.Options) (result.Bench, error) {
	left, err := result.ReadBench(o.Dir)
	resumed := err == nil
	switch {
	case resumed:
		o.RunID = left.BenchID
		if !flags.Changed("seed") {
			o.Driver.Seed = left.Setup.Seed
		}
	case errors.Is(err, result.ErrNoBench):
		if err := result.MakeDir(o.Dir); errors.Is(err, result.ErrNotEmpty) {
			return left, flagError("out", err)
		} else if err != nil {
			return left, err
		}
	default:
		return left, flagError("out", err)
	}

	setup := f.setup
	summary := experiment.Summarize(*o)
	setup.Engine, setup.Targets, setup.Size, setup.Threads = summary.Engine, summary.Targets, summary.Size, summary.Threads
	setup.Seed, setup.Parameters = summary.Seed, summary.Parameters
	setup.Settle, setup.Idle, setup.Cooldown = f.settle.Seconds(), f.idle.Seconds(), f.cooldown.Seconds()
	setup.Restore = f.restore.restore(nil).Name()
	for _, l := range o.Limits {
		setup.Limits = append(setup.Limits, l.String())
	}
	if !resumed {
		return result.Bench{KitVersion: o.Version, Command: o.Command, BenchID: o.RunID, Start: time.Now(), Setup: setup}, nil
	}
	if names := experiment.Differences(left.Setup, setup); len(names) > 0 {
		return left, usageError("--out: %s holds a bench with another setup: %s; give the same flags to continue it, or another directory",
			o.Dir, strings.Join(names, ", "))
	}
	if err := atomicfile.RemoveLeft(o.Dir); err != nil {
		return left, fmt.Errorf("continue the bench: %w", err)
	}
	left.Command = o.Command
	left.Setup.Runs, left.Setup.KeepFaulty, left.Setup.DropUnsteady = setup.Runs, setup.KeepFaulty, setup.DropUnsteady
	return left, nil
}

// procedure puts together what a bench does.
func (f *benchFlags) procedure(i *interrupts, options experiment.Options, stderr io.Writer) experiment.Bench {
	options.Driver.Delayed = delayed(stderr)
	restore := f.restore.restore(stderr)
	return experiment.Bench{
		Dir:     options.Dir,
		Planned: f.planned(),
		Restore: func(ctx context.Context) error { return restore.Do(ctx, options.Targets) },
		Run:     f.output.conduct(i, io.Discard, stderr).BenchRun(i.stop(), options),
		Told:    f.output.told(stderr),
	}
}

// told tells what goes on.
func (o *driveOutput) told(stderr io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) {
		o.served.doing(format, args...)
		if !o.quiet {
			fmt.Fprintf(stderr, format+"\n", args...)
		}
	}
}
