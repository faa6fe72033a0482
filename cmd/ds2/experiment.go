package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ds2/internal/atomicfile"
	"ds2/internal/compare"
	"ds2/internal/experiment"
	"ds2/internal/measure"
	"ds2/internal/preflight"
	"ds2/internal/result"
	"ds2/internal/store"
)

// experimentFlags are those of the command; what is run is in the file.
type experimentFlags struct {
	shownFlags
	out   string
	plan  bool
	serve bool // also after the end
}

func newExperimentCommand() *cobra.Command {
	var f experimentFlags
	cmd := newCommand("experiment", interruptible(firstOfFile, f.run))
	cmd.ValidArgsFunction = yamlFiles
	cmd.Args = f.args
	flags := cmd.Flags()
	declare(flags, "experiment", fields{"plan": &f.plan, "out": &f.out, "serve": &f.serve})
	f.shownFlags.add(flags, "experiment")
	return cmd
}

func (f *experimentFlags) args(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New(
			"name the experiment's file, such as arrays.yaml; ds2 init prints an example",
		)
	case len(args) > 1:
		return fmt.Errorf("unexpected argument %q", args[1])
	}
	return nil
}

func (f *experimentFlags) run(i *interrupts, cmd *cobra.Command, args []string) error {
	path := args[0]
	file, err := readExperimentFile(i.Soft, path)
	if err != nil {
		return err
	}
	base := filepath.Base(path)
	dir := cmp.Or(f.out, filepath.Join("ds2-results", strings.TrimSuffix(base, filepath.Ext(base))))
	if f.plan {
		return file.plan(cmd.OutOrStdout(), dir)
	}
	if err := f.conduct(i, cmd, file, dir); err != nil {
		return err
	}
	err = f.show(cmd, dir)
	if f.serve {
		fmt.Fprintln(i.stderr, "the report and the record are served until this is stopped")
		<-i.Soft.Done()
	}
	return err
}

// newSeed draws a seed that a spreadsheet and JSON readers with doubles keep whole.
func newSeed() uint64 { return rand.Uint64()>>12 + 1 }

// takeUp is the record of the experiment in dir, or a new one.
func (f *experimentFile) takeUp(dir string) (record result.Experiment, resumed bool, err error) {
	record = result.Experiment{
		KitVersion:   kitVersion(),
		ExperimentID: newRunID(),
		Start:        time.Now(),
		Order:        f.order,
		Seed:         cmp.Or(f.seed, newSeed()),
		Least:        f.runs.Least,
		Most:         f.runs.Most,
		Until:        f.until,
		Subject:      f.declared(),
	}
	for _, c := range f.configurations {
		record.Configurations = append(record.Configurations, c.Configuration)
	}
	record, resumed, err = experiment.TakeUpExperiment(dir, record, f.seed != 0)
	return record, resumed, outError(err)
}

// experiment puts together what goes through the configurations, in random orders of a seed.
func (f *experimentFile) experiment(seed uint64, all []*experiment.Bench) experiment.Experiment {
	// The orders follow from the seed alone, so that an experiment that is taken up again goes on
	// in them.
	return experiment.Experiment{
		Benches:  all,
		Orders:   measure.RandomBlocks(rand.New(rand.NewPCG(seed, 0)), len(all), f.runs.Most),
		Least:    f.runs.Least,
		Until:    f.until,
		Sequence: f.order == result.OrderSequence,
	}
}

// conduct makes the experiment, from the start or from where its record ends.
func (f *experimentFlags) conduct(
	i *interrupts,
	cmd *cobra.Command,
	file *experimentFile,
	dir string,
) (err error) {
	record, resumed, err := file.takeUp(dir)
	if err != nil {
		return err
	}
	remove, err := file.connectCluster(i.stderr)
	defer func() { err = errors.Join(err, remove()) }()
	if err != nil {
		return err
	}
	defer file.closeConfigurations()
	o := file.configurations[0].bench.output // where all are shown
	o.shownFlags = f.shownFlags
	// Before servers on new volumes are loaded, which takes hours.
	if err := o.serve(i, cmd, o.quiet, dir); err != nil {
		return err
	}
	if f.serve {
		i.served.offer(dir)
	}
	if err := f.openConfigurations(i, cmd, file, dir, record); err != nil {
		return err
	}
	// Locked to the last block, restores included, and before anything is written: the record in
	// dir may be that of another ds2 at work.
	unlock, err := i.lockStores("experiment", "", file.shared())
	if err != nil {
		return err
	}
	defer unlock()
	if err := beginRecord(dir, &record, resumed); err != nil {
		return err
	}
	benches, err := file.takeUpBenches(i, record.ExperimentID, f.quiet)
	if err != nil {
		return endRecord(i, dir, record, err)
	}
	whole := file.experiment(record.Seed, benches)
	whole.Told = o.told(i)
	// refresh tells what keeps the page from being up to date, and ends nothing.
	refresh := func(least int) (one shown, err error) {
		if one, err = f.refreshReport(i, dir, least); err != nil {
			whole.Told("the page is not up to date: %v", err)
		}
		return one, err
	}
	// Only with a block that is whole has every configuration been measured as often, and in the
	// same drift.
	whole.Looked = func(block int) {
		if one, err := refresh(0); err == nil {
			whole.Told("after block %d: %s", block, one.page.Sentence())
		}
	}
	if resumed { // else the first block shows it
		refresh(2)
	}
	err = endRecord(i, dir, record, whole.Do(i.Hard, i.Soft))
	refresh(0)
	fmt.Fprintf(i.stderr, "record: %s\n", dir)
	return err
}

// takeUpBenches takes up those of all configurations, and refuses what no run could mend:
// configurations that are unlike in more than their subject, or two that are one database, measured
// against itself.
func (f *experimentFile) takeUpBenches(
	i *interrupts, experimentID string, quiet bool,
) (benches []*experiment.Bench, err error) {
	var planned []preflight.Planned
	for _, c := range f.configurations {
		bench, err := c.takeUp(i)
		if err != nil {
			return nil, f.of(c, err)
		}
		bench.Summary.Experiment = experimentID
		if c.unready == nil {
			planned = append(planned, c.planned(i.Soft, c.options))
		}
		benches = append(benches, bench)
	}
	l := &checklist{w: i.stderr, quiet: quiet}
	l.add(preflight.Alike(planned, f.declared())...)
	return benches, l.refusal()
}

// openConfigurations opens the databases of all configurations. One that cannot be opened is left
// out, unless it has made no run: then it is better looked into.
func (f *experimentFlags) openConfigurations(
	i *interrupts,
	cmd *cobra.Command,
	file *experimentFile,
	dir string,
	record result.Experiment,
) error {
	for _, c := range file.configurations {
		c.bench.out = filepath.Join(dir, c.Dir)
		c.bench.output.quiet = f.quiet
		// Runs of all configurations are told apart in metrics; the name stays within what --run-id
		// takes.
		c.bench.RunID = fmt.Sprintf("%s-%s", record.ExperimentID, c.Dir[:min(len(c.Dir), 40)])
		// One seed for all: in a block every configuration gets the same orders, so that they
		// cannot make the difference.
		if err := c.bench.flags.Set("seed", fmt.Sprint(record.Seed)); err != nil {
			return err
		}
		err := c.openDatabases(i)
		_, none := result.ReadSummary[result.Bench](c.bench.out)
		if err != nil && (none != nil || isUsage(err) || i.Soft.Err() != nil) {
			return file.of(c, err)
		}
		c.unready = err
		c.options.Command = invocation(cmd, c.bench.flags, c.options.Plan)
	}
	return nil
}

// openDatabases opens the databases of a configuration, which are made first on a storage class.
func (c *variant) openDatabases(i *interrupts) (err error) {
	if c.volume.class != "" {
		err = c.startServer(i)
	}
	if err == nil {
		c.options, err = c.bench.options(i.Soft, c.bench.checklist(i, ""))
	}
	return err
}

// closeConfigurations closes the databases of all configurations, whose servers may be gone by
// then, and ends the tracing of their I/Os.
func (f *experimentFile) closeConfigurations() {
	for _, c := range f.configurations {
		c.options.Observer.Close()
		closeStores(c.options.Databases)
	}
}

// shared are the databases that another ds2 may use too, each once, though several configurations
// may have it: not those on servers that only this one knows.
func (f *experimentFile) shared() (stores []store.Database) {
	for _, c := range f.configurations {
		for _, s := range c.options.Databases {
			same := func(o store.Database) bool {
				return o.Engine() == s.Engine() && o.Label() == s.Label()
			}
			if c.volume.class == "" && !slices.ContainsFunc(stores, same) {
				stores = append(stores, s)
			}
		}
	}
	return stores
}

// beginRecord notes that the experiment goes on, with the databases locked.
func beginRecord(dir string, record *result.Experiment, resumed bool) error {
	var err error
	if resumed {
		err = experiment.ClearUp(dir)
	} else {
		err = outError(result.MakeDir(dir))
	}
	if err != nil {
		return err
	}
	record.Status = result.Running
	record.Error = ""
	return result.SaveSummary(dir, *record)
}

// endRecord notes how the experiment ended, and gives the error that ended it.
func endRecord(i *interrupts, dir string, record result.Experiment, err error) error {
	record.End = time.Now()
	switch {
	case err == nil:
		record.Status = result.Done
	case i.Soft.Err() != nil:
		record.Status = result.Interrupted
	default:
		record.Status = result.Failed
		record.Error = err.Error()
	}
	return errors.Join(err, result.SaveSummary(dir, record))
}

// refreshReport writes the page again and shows it, if that many configurations are compared.
func (f *experimentFlags) refreshReport(i *interrupts, dir string, least int) (shown, error) {
	e, one, err := f.report(dir)
	if err == nil && len(e.Comparison.Configurations) >= least {
		err = i.served.found(one.page)
	}
	return one, err
}

// takeUp takes up the bench of a configuration; one whose databases could not be opened is left
// out.
func (c *variant) takeUp(i *interrupts) (one *experiment.Bench, err error) {
	var summary result.Bench
	if c.unready == nil {
		if err = c.bench.observed(i.Soft, c.bench.checklist(i, ""), &c.options); err == nil {
			summary, err = c.bench.takeUp(true, &c.options)
		}
	} else {
		summary, err = result.ReadSummary[result.Bench](c.bench.out)
		// Left out of this session only: its runs so far stay in the comparison.
		summary.Spec.Runs = c.bench.Runs
	}
	one = c.bench.procedure(i, c.options)
	if c.volume.class != "" {
		c.onVolumes(i, one)
	}
	one.Name = c.Name
	one.Unready = c.unready
	one.Summary = summary
	told := one.Told
	one.Told = func(format string, args ...any) {
		told("%s: %s", c.Name, fmt.Sprintf(format, args...))
	}
	return one, err
}

func isUsage(err error) bool {
	e, ok := errors.AsType[*exitError](err)
	return ok && e.code == exitUsage
}

// report concludes the experiment in dir as far as it is, and writes its page.
func (f *experimentFlags) report(dir string) (e compare.Experiment, one shown, err error) {
	record, err := result.ReadSummary[result.Experiment](dir)
	if err != nil {
		return e, one, err
	}
	if e, err = compare.NewExperiment(reader(), dir, record); err != nil {
		return e, one, err
	}
	one = experimentShown(e)
	return e, one, atomicfile.Write(filepath.Join(dir, reportFile), one.page.HTML)
}

// show writes the page and prints the result of the experiment in dir.
func (f *experimentFlags) show(cmd *cobra.Command, dir string) error {
	e, one, err := f.report(dir)
	if err != nil {
		return err
	}
	if err := one.publish(cmd, dir, f.formatFlags); err != nil {
		return err
	}
	return verdictOf(e.Comparison.Findings)
}
