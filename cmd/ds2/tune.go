package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/atomicfile"
	"ds2/internal/experiment"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/tune"
)

// tuneFlags are those of a run, whose users are searched for, and how to search.
type tuneFlags struct {
	driveFlags
	watch   observeFlags
	restore restoreFlags
	search  tune.Config
	method  string
	gain    float64 // percent
	output  driveOutput
}

func newTuneCommand() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Find the number of users with the highest OPM within limits",
		Long: `Runs users against a database again and again, and searches for the number of users with the most orders a minute
that keeps the limits. Each run starts from the same database and is audited. The runs and the search itself leave a
record in the folder --out, and a report with the curve of OPM and response time over users.

The method golden doubles the users until a limit fails or more users bring nothing, then closes in on the best by
golden-section search or, where the limits stand in the way, by interpolation. A figure within a tenth of its limit is
measured three times before it decides, and no number of users is found to fail by a single run. The method steps is
that of the Jetstress reports: from --start-threads 16 by halves or doubles, then up one by one. With both, the best is
run three times, and its run with the median OPM is the result. Fewer users are preferred to more that bring less than
--gain.`,
		Example: `  ds2 tune --target postgres://ds2:ds2@localhost/ds2 --limit 'order p95 < 200ms'
  ds2 tune --target postgres://ds2:ds2@localhost/ds2 --limits jetstress --method steps --start-threads 16 --run-time 5m`,
		Args: flagsOnly,
		RunE: interruptible(firstOfRun, func(i *interrupts, cmd *cobra.Command, _ []string) error { return f.run(i, cmd) }),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.addShared(flags)
	preset(flags, "warmup-time", "15s")
	preset(flags, "run-time", "2m")
	f.restore.add(flags)
	f.watch.add(flags)
	flags.StringVar(&f.method, "method", string(tune.Golden), "golden or steps")
	flags.IntVar(&f.search.Start, "start-threads", 0, "users of the first run, per target (default 1, and 16 for steps)")
	flags.IntVar(&f.search.Max, "max-threads", 1024, "users at most, per target")
	flags.Float64Var(&f.gain, "gain", 2, "percent of OPM that more users have to bring")
	flags.StringVarP(&f.output.format, "output", "o", "text", "result as text or json")
	flags.BoolVarP(&f.output.quiet, "quiet", "q", false, "show only the result of each run")
	f.output.metricsFlags.add(flags)
	f.output.verify.add(flags)
	return cmd
}

// preset gives a flag another default.
func preset(flags *pflag.FlagSet, name, value string) {
	flag := flags.Lookup(name)
	if err := flag.Value.Set(value); err != nil {
		panic(err) // it stands above
	}
	flag.DefValue = flag.Value.String()
}

func (f *tuneFlags) check() error {
	f.search.Method, f.search.Gain = tune.Method(f.method), f.gain/100
	if f.search.Start == 0 {
		f.search.Start = map[tune.Method]int{tune.Golden: 1, tune.Steps: 16}[f.search.Method]
	}
	switch {
	case f.search.Method != tune.Golden && f.search.Method != tune.Steps:
		return usageError("--method: %q is neither golden nor steps", f.method)
	case f.search.Max > 1_000_000:
		return usageError("--max-threads is %d: it must be at most 1000000", f.search.Max)
	case f.search.Start < 1 || f.search.Start > f.search.Max:
		return usageError("--start-threads is %d: it must be from 1 to --max-threads, %d", f.search.Start, f.search.Max)
	case !(f.gain >= 0) || f.gain >= 100:
		return usageError("--gain is %g: it must be from 0 to less than 100 percent", f.gain)
	case f.config.Run == 0:
		return usageError("--run-time is 0: the runs of a search have an end")
	case f.abortAfter > 0 && len(f.windows) > 0:
		return usageError("--abort-on-fail goes without --window here: a run that ends early may lack the window")
	case f.output.format != "text" && f.output.format != "json":
		return usageError("--output: %q is neither text nor json", f.output.format)
	}
	if err := f.restore.check(); err != nil {
		return err
	}
	limits, err := f.limits.parse()
	if err != nil {
		return err
	}
	if f.abortAfter > 0 && slices.ContainsFunc(limits, func(l limit.Limit) bool { return l.Unit() == limit.OPM }) {
		return usageError("--abort-on-fail goes without a limit on opm here: runs with few users are meant to miss it")
	}
	f.config.Threads, f.spacing = f.search.Start, "even"
	return nil
}

func (f *tuneFlags) run(interrupts *interrupts, cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	options, err := f.experiment(interrupts.soft)
	if err != nil {
		return err
	}
	defer closeStores(options.Targets)
	unlock, err := interrupts.lockStores("tune", "", options.Targets, stderr)
	if err != nil {
		return err
	}
	defer unlock()
	if options.Observer, err = f.watch.observe(interrupts.soft, options, f.output.quiet, stderr); err != nil {
		return err
	}
	dir := cmp.Or(f.out, filepath.Join("ds2-results", result.DirName(time.Now(), options.RunID)+"-tune"))
	s := tuning{options: options, flags: f, dir: dir, interrupts: interrupts, stderr: stderr, record: newTuneRecord(options, f),
		restore: f.restore.restorer(options.Targets, stderr)}
	if err := result.MakeDir(dir); errors.Is(err, result.ErrNotEmpty) {
		return flagError("out", err)
	} else if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "record: %s\n", dir)
	if err := s.search(); err != nil {
		return err
	}
	if err := s.print(cmd.OutOrStdout()); err != nil {
		return err
	}
	switch {
	case s.record.Best == nil:
		return verdictError("%s; see the record", s.record.Why)
	case !limit.Passed(s.record.Verdicts):
		return verdictError("limits failed: %s; see the record", limit.Failed(s.record.Verdicts))
	}
	return nil
}

func newTuneRecord(o experiment.Options, f *tuneFlags) result.Search {
	r := result.Search{
		KitVersion: o.Version, RunID: o.RunID, Start: time.Now(),
		Engine: o.Targets[0].Engine(), Size: o.Driver.Workload.Size.String(), Restore: f.restore.name(), Config: f.search,
	}
	for _, t := range o.Targets {
		r.Targets = append(r.Targets, t.Label())
	}
	for _, l := range o.Limits {
		r.Limits = append(r.Limits, l.String())
	}
	return r
}

// tuning is a search under way.
type tuning struct {
	options    experiment.Options
	flags      *tuneFlags
	dir        string
	interrupts *interrupts
	stderr     io.Writer
	record     result.Search
	restore    func(context.Context) error // nil: nothing is restored
	trials     int
}

// search runs the search and writes its record, also where an error ends it.
func (s *tuning) search() error {
	found, err := tune.Search(s.interrupts.hard, s.flags.search, s.trial)
	s.record.Result, s.record.End = found, time.Now()
	if best := found.Best; best != nil {
		median := best.Median()
		s.record.OPM = &median.OPM
		record, readErr := result.Read(filepath.Join(s.dir, median.Record))
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		s.record.Verdicts = record.Limits
	}
	if err := errors.Join(err, result.SaveSearch(s.dir, s.record)); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(s.dir, reportFile), func(w io.Writer) error { return tunePage(w, s.dir, s.record) })
}

// trial is one run with a number of users, from the restored database to its audit.
func (s *tuning) trial(ctx context.Context, threads int) (result.Trial, error) {
	s.trials++
	t := result.Trial{Threads: threads, Record: fmt.Sprintf("%02d-%d-users", s.trials, threads)}
	o := s.options
	o.Driver.Threads = threads
	o.Driver.Seed += uint64(s.trials) // else, where nothing is restored, the new customers of a repeat find their names taken
	o.RunID = fmt.Sprintf("%s-%02d", o.RunID, s.trials)
	o.Dir = filepath.Join(s.dir, t.Record)
	if s.restore != nil {
		if err := s.restore(ctx); err != nil {
			return t, err
		}
	}
	run, summary, err := driveRun(s.interrupts, o, &s.flags.output, io.Discard, s.stderr)
	if err != nil && !errors.Is(err, experiment.ErrLimits) {
		return t, err
	}
	if summary.OPM == nil {
		return t, errors.New("the run gave no figures")
	}
	verdicts := summary.Limits
	unsound, err := verdict(s.interrupts, run, nil, &s.flags.output, s.stderr)
	if err != nil {
		return t, err
	}
	if len(unsound) > 0 { // figures of a database that is not what it should be are worth nothing
		return t, verdictError("%s", strings.Join(unsound, "; "))
	}
	if t.Strain, err = limit.Strain(verdicts); err != nil { // it fails, whatever the number of users
		return t, &exitError{exitVerdict, err}
	}
	t.OPM, t.P95, t.Passed = *summary.OPM, summary.Windows[0].Latency[measure.WholeOrder].P95/1000, limit.UpperHold(verdicts)
	fmt.Fprintf(s.stderr, "trial %d: %s\n", s.trials, report.TrialText(t))
	return t, nil
}

func (s *tuning) print(w io.Writer) error {
	if s.flags.output.format == "json" {
		return printJSON(w, s.record)
	}
	return report.TuneText(w, s.record)
}

// tunePage writes the report of a search in dir: the search, and the run that is its result.
func tunePage(w io.Writer, dir string, r result.Search) error {
	var median *result.Record
	if r.Best != nil {
		var err error
		if median, err = result.Read(filepath.Join(dir, r.Best.Median().Record)); err != nil {
			return err
		}
	}
	return report.TuneHTML(w, r, median)
}
