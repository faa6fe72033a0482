package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ds2/internal/atomicfile"
	"ds2/internal/conclude"
	"ds2/internal/experiment"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/store"
)

// experimentFlags are those of the command; what is run is in the file.
type experimentFlags struct {
	out, format string
	quiet, plan bool
}

func newExperimentCommand() *cobra.Command {
	var f experimentFlags
	cmd := &cobra.Command{
		Use:   "experiment FILE.yaml",
		Short: "Compare configurations by benches whose runs take turns in random blocks",
		Long: `Runs several configurations by the procedure of ds2 bench, in blocks: each block has one run of every configuration, in
a random order, so that a room that grows warmer or a drive that fills acts on all alike. They are compared block by block.

The keys of the file are the flags of ds2 bench, for all configurations or for one, and

  configurations  each with a name, its flags and its labels
  factors         flags with a list of values; each configuration runs with each value
  runs            how many runs of each must count: 5, or 3..9 with until (default 6; intervals take 5)
  until           stop when the 95 % interval of every difference reaches at most so far: 2 %
  order           random, or sequence: all runs of one configuration, then those of the next
  labels          of a configuration: words of yours for the report

${VARIABLE} stands for an environment variable and ${file:PATH} for what a file holds, such as a password.

All records go into one directory, a bench for each configuration. The same command continues an experiment that was
interrupted or crashed. A configuration that keeps failing is left out, and the others go on.`,
		Example: `  ds2 experiment arrays.yaml --plan
  ds2 experiment arrays.yaml

PowerShell:
  $env:HDD_PASSWORD = Read-Host -MaskInput; ds2 experiment arrays.yaml

arrays.yaml:
  restore: snapshot
  run-time: 20m
  runs: 5..9
  until: 2 %
  configurations:
    hdd:
      target: postgres://ds2:${HDD_PASSWORD}@db1/ds2
      labels: {array: 24 disks, raid: 10}
    ssd:
      target: postgres://ds2:${file:/run/secrets/ssd}@db2/ds2
      labels: {array: 6 SSDs, raid: 5}
  factors:
    threads: [32, 128]`,
		Args: oneFile,
		RunE: interruptible(firstOfRun, func(i *interrupts, cmd *cobra.Command, args []string) error { return f.run(i, cmd, args[0]) }),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.plan, "plan", false, "print the order of the runs and the time that they will take, and run nothing")
	flags.StringVar(&f.out, "out", "", "directory for the records; an unfinished experiment in it is continued (default ds2-results/<name of the file>)")
	flags.VarP(oneOf(&f.format, "text", "markdown", "json", "csv"), "output", "o", "format of the result")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show nothing while the runs go on")
	return cmd
}

func oneFile(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("the experiment's file is missing")
	case len(args) > 1:
		return fmt.Errorf("unexpected argument %q", args[1])
	}
	return nil
}

func (f *experimentFlags) run(i *interrupts, cmd *cobra.Command, path string) error {
	file, err := readExperimentFile(path)
	if err != nil {
		return err
	}
	base := filepath.Base(path)
	dir := cmp.Or(f.out, filepath.Join("ds2-results", strings.TrimSuffix(base, filepath.Ext(base))))
	record, resumed, err := file.take(dir)
	if err != nil {
		return err
	}
	orders := file.orders(record.Seed)
	if f.plan {
		return file.plan(cmd.OutOrStdout(), dir, record, orders)
	}
	return f.make(i, cmd, file, dir, record, resumed, orders)
}

// take is the record of the experiment in dir, or a new one.
func (f *experimentFile) take(dir string) (record result.Experiment, resumed bool, err error) {
	record = result.Experiment{KitVersion: kitVersion(), ExperimentID: newRunID(), Start: time.Now(), Order: f.order, Seed: cmp.Or(f.seed, newSeed())}
	for _, c := range f.configurations {
		record.Configurations = append(record.Configurations, c.ExperimentConfiguration)
	}
	left, err := result.ReadExperiment(dir)
	switch {
	case err == nil && !begun(dir, left):
		resumed = true
	case err == nil:
		if what := f.unlike(left, record); len(what) > 0 {
			return left, true, usageError("--out: %s holds an experiment with another setup: %s; give the same file to continue it, or another directory", dir, strings.Join(what, ", "))
		}
		record, resumed = left, true
	case !errors.Is(err, result.ErrNoExperiment):
		return left, true, flagError("out", err)
	}
	record.Least, record.Most, record.Until = f.least, f.most, f.until // they only say how long to go on
	return record, resumed, nil
}

// begun says whether an experiment has begun with a run.
func begun(dir string, e result.Experiment) bool {
	return slices.ContainsFunc(e.Configurations, func(c result.ExperimentConfiguration) bool {
		_, err := result.ReadBench(filepath.Join(dir, c.Dir))
		return !errors.Is(err, result.ErrNoBench)
	})
}

// unlike names what makes the experiment of a record another one than the file's.
func (f *experimentFile) unlike(left, record result.Experiment) (what []string) {
	if left.Order != f.order {
		what = append(what, keyOrder)
	}
	if f.seed != 0 && left.Seed != f.seed {
		what = append(what, "seed")
	}
	same := func(a, b result.ExperimentConfiguration) bool {
		return a.Name == b.Name && a.Dir == b.Dir && slices.Equal(a.Settings, b.Settings)
	}
	if !slices.EqualFunc(left.Configurations, record.Configurations, same) {
		what = append(what, keyConfigurations)
	}
	return what
}

// orders are those of the configurations in each block.
func (f *experimentFile) orders(seed uint64) [][]int {
	return measure.RandomBlocks(rand.New(rand.NewPCG(seed, 0)), len(f.configurations), f.most)
}

// experiment puts together what goes through the configurations.
func (f *experimentFile) experiment(all []*experiment.Configuration, orders [][]int, told func(string, ...any)) experiment.Experiment {
	return experiment.Experiment{Configurations: all, Orders: orders, Least: f.least, Until: f.until, Sequence: f.order == result.OrderSequence, Told: told}
}

// plan prints the order of the runs and the time that is left.
func (f *experimentFile) plan(w io.Writer, dir string, record result.Experiment, orders [][]int) error {
	var all []*experiment.Configuration
	for _, c := range f.configurations {
		b, err := result.ReadBench(filepath.Join(dir, c.Dir))
		if err != nil && !errors.Is(err, result.ErrNoBench) {
			return err
		}
		b.Setup.Runs = f.most
		all = append(all, &experiment.Configuration{Name: c.Name, Summary: b, Procedure: experiment.Bench{Planned: c.bench.planned()}})
	}
	made, runs, left := f.experiment(all, orders, nil).Left()
	fmt.Fprintf(w, "records: %s\n", dir)
	fmt.Fprintf(w, "configurations: %d\n", len(all))
	if f.order == result.OrderSequence {
		fmt.Fprintf(w, "order: sequence, %d runs each\n", f.most)
		for _, c := range all {
			fmt.Fprintf(w, "  %s\n", c.Name)
		}
	} else {
		fmt.Fprintf(w, "order: random, seed %d", record.Seed)
		if f.seed == 0 && record.Status == "" {
			fmt.Fprintf(w, "; the file gives no seed, so another one is drawn when it runs: add seed: %d for this order", record.Seed)
		}
		fmt.Fprintln(w)
		for i, order := range orders {
			fmt.Fprintf(w, "  block %*d:", len(fmt.Sprint(len(orders))), i+1)
			for k, c := range order {
				separator := " "
				if k > 0 {
					separator = "; "
				}
				fmt.Fprint(w, separator, all[c].Name)
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintf(w, "runs: %d, of which %d are made\n", runs, made)
	most := ""
	if f.until > 0 {
		most = "at most "
		fmt.Fprintf(w, "it stops after %d blocks or more, when the 95 %% interval of every difference is within %g %%\n", max(f.least, measure.MinBlocks+1), f.until)
	}
	if f.most < measure.MinBlocks && len(all) > 1 && f.order == result.OrderRandom {
		fmt.Fprintf(w, "warning: %d blocks are too few for confidence intervals: they take %d\n", f.most, measure.MinBlocks)
	}
	if f.most >= measure.MinBlocks && len(all) > 1 && f.order == result.OrderRandom {
		var values [][]float64
		for _, c := range all {
			var of []float64
			for _, r := range c.Summary.Runs {
				if r.Counts && r.Figure.Value > 0 {
					of = append(of, r.Figure.Value)
				}
			}
			values = append(values, of)
		}
		scatter, of := measure.Scatter(values), "as of the runs that are made"
		if math.IsNaN(scatter) {
			scatter, of = 2, "which is assumed, as too few runs are made"
		}
		fmt.Fprintf(w, "at a scatter of %.2g %% from run to run (%s), a difference of %.2g %% is found in 8 of 10 such experiments\n",
			scatter, of, measure.Smallest(scatter, len(all), f.most, f.until > 0))
	}
	_, err := fmt.Fprintf(w, "time left: %s%s, and the restores and audits of the runs whose configuration has made none yet\n", most, left.Round(time.Second))
	return err
}

// make makes the experiment, from the start or from where its record ends.
func (f *experimentFlags) make(i *interrupts, cmd *cobra.Command, file *experimentFile, dir string, record result.Experiment, resumed bool, orders [][]int) error {
	stderr := cmd.ErrOrStderr()
	if !resumed {
		if err := result.CheckDir(dir); err != nil {
			return flagError("out", err)
		}
	}
	var stores []store.Store
	defer func() { closeStores(stores) }()
	options := make([]experiment.Options, len(file.configurations))
	unready := make([]error, len(options))
	for k, c := range file.configurations {
		c.bench.out, c.bench.runID, c.bench.output.quiet = filepath.Join(dir, c.Dir), runIDOf(record.ExperimentID, c.Dir), f.quiet
		if err := c.flags.Set("seed", fmt.Sprint(record.Seed)); err != nil {
			return err
		}
		var err error
		if options[k], err = c.bench.experiment(i.soft); err == nil {
			stores = append(stores, options[k].Targets...)
		} else if _, none := result.ReadBench(c.bench.out); none != nil || isUsage(err) || i.soft.Err() != nil {
			return file.of(c, err) // before it has made a run, it is better looked into than left out
		}
		options[k].Command, unready[k] = invocationWith(cmd, c.flags), err
	}
	unlock, err := i.lockStores("experiment", "", distinct(stores), stderr)
	if err != nil {
		return err
	}
	defer unlock()
	if !resumed {
		if err := result.MakeDir(dir); errors.Is(err, result.ErrNotEmpty) {
			return flagError("out", err)
		} else if err != nil {
			return err
		}
	}
	record.Status, record.Error = result.Running, ""
	if err := result.SaveExperiment(dir, record); err != nil {
		return err
	}
	first := file.configurations[0].bench.output // where all are shown
	first.quiet = f.quiet
	close, err := first.open(cmd)
	if err != nil {
		return err
	}
	defer close()
	first.served.writes(dir)
	var all []*experiment.Configuration
	for k, c := range file.configurations {
		c.bench.output.served = first.served
		one, err := f.configuration(i, c, &options[k], unready[k], stderr)
		if err != nil {
			return file.of(c, err)
		}
		one.Summary.Experiment = record.ExperimentID
		all = append(all, one)
	}
	o := driveOutput{quiet: f.quiet, served: first.served}
	err = file.experiment(all, orders, o.told(stderr)).Do(i.hard, i.soft.Done())
	record.End = time.Now()
	record.Status = result.Done
	if err != nil {
		if record.Status, record.Error = result.Failed, err.Error(); i.soft.Err() != nil {
			record.Status, record.Error = result.Interrupted, ""
		}
	}
	err = errors.Join(err, result.SaveExperiment(dir, record))
	fmt.Fprintf(stderr, "record: %s\n", dir)
	if err != nil {
		return err
	}
	return f.show(cmd, dir)
}

// configuration takes up the bench of a configuration; one whose databases could not be opened is left out.
func (f *experimentFlags) configuration(i *interrupts, c *fileConfiguration, o *experiment.Options, unready error, stderr io.Writer) (one *experiment.Configuration, err error) {
	one = &experiment.Configuration{Name: c.Name, Unready: unready}
	if unready == nil {
		one.Summary, err = c.bench.prepare(i.soft, c.flags, o, stderr)
	} else {
		one.Summary, err = result.ReadBench(c.bench.out)
		one.Summary.Setup.Runs = c.bench.setup.Runs
	}
	one.Procedure = c.bench.procedure(i, *o, stderr)
	one.Procedure.Dir = c.bench.out
	told := one.Procedure.Told
	one.Procedure.Told = func(format string, args ...any) { told(c.Name+": "+format, args...) }
	return one, err
}

func isUsage(err error) bool {
	e, ok := errors.AsType[*exitError](err)
	return ok && e.code == exitUsage
}

// runIDOf names the runs of a configuration.
func runIDOf(experiment, dir string) string {
	return fmt.Sprintf("%s-%s", experiment, dir[:min(len(dir), 40)])
}

// distinct are the databases without those that several configurations have in common.
func distinct(stores []store.Store) (some []store.Store) {
	for _, s := range stores {
		if !slices.ContainsFunc(some, func(o store.Store) bool { return o.Engine() == s.Engine() && o.Label() == s.Label() }) {
			some = append(some, s)
		}
	}
	return some
}

// show writes the page and prints the result of the experiment in dir.
func (f *experimentFlags) show(cmd *cobra.Command, dir string) error {
	e, err := report.ReadExperiment(conclude.Reader{Workloads: concluders()}, dir)
	if err != nil {
		return err
	}
	page := filepath.Join(dir, reportFile)
	if err := atomicfile.Write(page, func(w io.Writer) error { return report.ExperimentHTML(w, e) }); err != nil {
		return err
	}
	if err := writeExperiment(cmd.OutOrStdout(), e, f.format); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", page)
	var failed []string
	for _, c := range e.Benches {
		switch {
		case c.Status == result.Failed:
			failed = append(failed, fmt.Sprintf("configuration %s was left out: %s", c.Name, c.Error))
		case !limit.Passed(c.Limits):
			failed = append(failed, fmt.Sprintf("limits of configuration %s failed: %s", c.Name, limit.Failed(c.Limits)))
		}
	}
	if len(failed) > 0 {
		return verdictError("%s; see the record", strings.Join(failed, "; "))
	}
	return nil
}

// writeExperiment writes the report of an experiment.
func writeExperiment(w io.Writer, e report.Experiment, output string) error {
	switch output {
	case "html":
		return report.ExperimentHTML(w, e)
	case "json":
		return printJSON(w, e)
	case "csv":
		return report.CompareCSV(w, e.Comparison)
	case "markdown":
		return report.ExperimentMarkdown(w, e)
	default:
		return report.ExperimentText(w, e)
	}
}
