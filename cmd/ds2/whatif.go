package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/atomicfile"
	"ds2/internal/conclude"
	"ds2/internal/device"
	"ds2/internal/localpg"
	"ds2/internal/monitor"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/slowdrive"
	"ds2/internal/whatif"
	"ds2/internal/workload/ds2"
)

func newWhatifCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "whatif",
		Short: "Predict the OPM or IOPS of a drive that nobody has yet from its fio record",
		Long: `Learns how a workload depends on the latency of reads, log flushes and writes of data from runs on
drives that are slowed by known amounts, and predicts what other drives would do, by what ds2 device
or fio measured of them. See docs/howto/whatif.md.`}
	cmd.AddCommand(newWhatifLearnCommand(), newWhatifPredictCommand())
	return cmd
}

// whatifFlags are those of ds2 whatif learn.
type whatifFlags struct {
	flags       *pflag.FlagSet
	server      localpg.Options
	load        loadFlags
	buffers     int64
	threads     []int
	fit, check  []string
	runs        int
	warmup, run time.Duration
	stageTime   time.Duration
	seed        uint64
	dir, out    string
	dataDir     string // of the user's server, shown at mount
	mount       string
	shownFlags

	drives []whatifDrive
}

// whatifDrive is one that learn makes.
type whatifDrive struct {
	name   string
	delays slowdrive.Delays
	fits   bool
	record *device.Record
	drive  whatif.Drive
}

func newWhatifLearnCommand() *cobra.Command {
	var f whatifFlags
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "Learn from runs on slowed drives what an order takes of processor and drive",
		Long: `Starts a PostgreSQL of its own on a directory whose reads and flushes are slowed by known amounts,
loads a dataset, and drives it on each of --drives with each number of --threads, in random blocks.
With --target, yours: ds2 shows a copy of its data at --mount and waits until you start it there.

Each drive is measured with fio first, as ds2 device does. The result is a model for ds2 whatif
predict, and its page. Drives of --check-drives are driven too but not fitted: they show how well
the model predicts.

A drive is READ/FLUSH, the times that are added, such as 1ms/4ms; 1ms/4ms/8 serves 8 reads at once.
A third time, 1ms/4ms/500us, is added to each write of data, and who writes waits for it, as with
direct I/O; else data are written at once, as into a page cache.
It takes Linux, fio, and root or fusermount3.`,
		Example: `  ds2 whatif learn --size 1GB --buffers 100MB --out model
  ds2 whatif learn --drives 1ms/1ms,16ms/1ms,1ms/16ms,16ms/16ms --check-drives 4ms/2ms,8ms/8ms
  ds2 whatif learn --workload mailbox --mailboxes 100 --mailbox-size 10MB`,
		Args: flagsOnly,
		RunE: interruptible(firstOfRun, f.learn),
	}
	flags := cmd.Flags()
	f.flags, f.load.flags = flags, flags
	f.buffers = 16e6
	f.warmup, f.run, f.stageTime = 20*time.Second, time.Minute, 2*time.Second
	flags.StringVar(&f.load.workload, "workload", ds2.Name, "workload that the database is for: "+workloadNames())
	f.load.mailbox.add(flags)
	preset(flags, "mailboxes", "30")
	preset(flags, "mailbox-size", "10MB")
	flags.StringVar(&f.load.size, "size", "300MB", "size of the dataset: S, M, 30MB, 2GB; "+
		"it should be many times --buffers")
	flags.Var(byteSize(&f.buffers), "buffers", "PostgreSQL's shared_buffers, the only cache above the drive, "+
		"such as 16MB")
	flags.IntSliceVar(&f.threads, "threads", []int{8, 32}, "numbers of users, such as 8,32; also --n-threads")
	corners := []string{"200us/200us", "4ms/200us", "200us/4ms", "4ms/4ms", "900us/900us"}
	flags.StringSliceVar(&f.fit, "drives", corners, "drives to learn from, as READ/FLUSH")
	flags.Lookup("drives").DefValue = "the corners of 200us and 4ms, and 900us/900us"
	flags.StringSliceVar(&f.check, "check-drives", nil, "drives to hold the model against, as READ/FLUSH")
	flags.IntVar(&f.runs, "runs", 3, "runs on each drive with each number of users")
	flags.Var(ds2Duration(&f.warmup, time.Minute), "warmup-time", "warm-up before each run: minutes, "+
		"or a duration such as 90s")
	flags.Var(ds2Duration(&f.run, time.Minute), "run-time", "run after the warm-up: minutes, or a duration such as 90s")
	flags.Var(duration(&f.stageTime), "stage-time", "time for which each point of a drive is measured, such as 30s")
	flags.Uint64Var(&f.seed, "seed", 0, "random seed; 0 picks one and records it")
	flags.StringVar(&f.dir, "dir", "", "directory for the database, in memory or on a drive that is faster than all "+
		"of --drives (default: the system's directory for temporary files)")
	flags.StringVar(&f.out, "out", "", "directory for model, page and the records of the runs, new or empty (default "+
		"ds2-results/<start>-whatif)")
	serverFlags(flags, &f.server)
	flags.StringVar(&f.load.target, "target", "", "URL of a loaded database on a PostgreSQL of your own, "+
		"on this machine")
	flags.StringVar(&f.dataDir, "data-dir", "", "directory of the data of --target, which is stopped")
	flags.StringVar(&f.mount, "mount", "", "empty directory at which to show --data-dir, slowed")
	f.add(flags, "text", "json")
	return cmd
}

// judge refuses what makes no model, before anything is started.
func (f *whatifFlags) judge() error {
	if err := checkServer(f.server); err != nil {
		return err
	}
	switch {
	case f.runs < 1 || f.runs > 100:
		return usageError("--runs is %d: it must be 1 to 100", f.runs)
	case len(f.threads) == 0 || slices.Min(f.threads) < 1 || slices.Max(f.threads) > 1000:
		return usageError("--threads is %v: numbers of users are 1 to 1000", f.threads)
	case f.run < time.Second || f.warmup < 0:
		return usageError("--run-time is %s after a warm-up of %s: runs take at least 1s", f.run, f.warmup)
	case f.stageTime < time.Second || f.stageTime > time.Hour:
		return usageError("--stage-time is %s: it must be 1s to 1h", f.stageTime)
	case f.buffers < 128<<10 || f.buffers > 1e12:
		return usageError("--buffers is %s: it must be 128KiB to 1TB", bytesText(f.buffers))
	}
	for i, text := range slices.Concat(f.fit, f.check) {
		flag, fits := "check-drives", i < len(f.fit)
		if fits {
			flag = "drives"
		}
		delays, err := slowdrive.ParseDelays(text)
		if err != nil {
			return flagError(flag, err)
		}
		if slices.ContainsFunc(f.drives, func(d whatifDrive) bool { return d.name == text }) {
			return usageError("--%s: %s is there already", flag, text)
		}
		f.drives = append(f.drives, whatifDrive{name: text, delays: delays, fits: fits})
	}
	least := 3
	if f.writes() {
		least = 4
	}
	if len(f.fit)*len(f.threads)*f.runs < least+2 || len(f.fit) < least {
		return usageError("--drives: it takes at least %d drives and %d runs on them to tell all that an order takes",
			least, least+2)
	}
	if len(f.drives)*len(f.threads) > maxConfigurations {
		return usageError("--check-drives: %d drives with %d numbers of users are too many: at most %d runs in a block",
			len(f.drives), len(f.threads), maxConfigurations)
	}
	if err := f.judgeServer(); err != nil {
		return err
	}
	f.out = recordDir(f.out, "whatif")
	return checkOut(f.out)
}

// writes says whether some drive that is learned from is slow to write data.
func (f *whatifFlags) writes() bool {
	return slices.ContainsFunc(f.drives, func(d whatifDrive) bool { return d.fits && d.delays.Write > 0 })
}

// learn is the whole way. Server and drive end whatever happens on them.
func (f *whatifFlags) learn(i *interrupts, cmd *cobra.Command, _ []string) (err error) {
	if err := f.judge(); err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	if f.quiet {
		stderr, f.load.quiet = io.Discard, true
	}
	serve, unmount := f.theirs, f.unmount
	if f.load.target == "" {
		dir, err := os.MkdirTemp(f.dir, "ds2-whatif-")
		if err != nil {
			return flagError("dir", err)
		}
		defer os.RemoveAll(dir)
		serve, f.dataDir, f.mount = f.own, filepath.Join(dir, "below"), filepath.Join(dir, "drive")
		unmount = func(_ context.Context, drive *slowdrive.Drive, _ io.Writer) error { return drive.Unmount() }
		if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(f.dataDir, 0o755), os.Mkdir(f.mount, 0o755)); err != nil {
			return err
		}
	}
	drive, err := slowdrive.Mount(f.dataDir, f.mount)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmount(i.hard, drive, stderr)) }()
	if err := f.measure(i.soft, drive, stderr); err != nil {
		return err
	}
	store, stop, err := serve(i, drive, stderr)
	defer func() { drive.Set(slowdrive.Delays{}); err = errors.Join(err, stop()) }()
	if err != nil {
		return err
	}
	if err := f.drive(i, cmd, drive, stderr); err != nil {
		return err
	}
	return f.conclude(cmd, store)
}

// measure measures each drive, as ds2 device does.
func (f *whatifFlags) measure(ctx context.Context, drive *slowdrive.Drive, stderr io.Writer) error {
	for i := range f.drives {
		d := &f.drives[i]
		fmt.Fprintf(stderr, "measuring drive %s, %d of %d\n", d.name, i+1, len(f.drives))
		o := device.Options{Dir: f.mount, KitVersion: kitVersion(), FileBytes: 32 << 20,
			StageTime: f.stageTime, Depths: []int{1, 8, 32}, NoMix: true}
		var err error
		delays := d.delays
		delays.Write = 0 // of data, and what is flushed here stands for the log
		drive.Set(delays)
		if d.record, err = device.Run(ctx, o); err == nil && d.delays.Write > 0 {
			drive.Set(d.delays)
			var slow *device.Record
			o.Depths = o.Depths[:1]
			if slow, err = device.Run(ctx, o); err == nil {
				d.record.Writes = slow.Writes
			}
		}
		if err != nil {
			return fmt.Errorf("measure drive %s: %w", d.name, err)
		}
		if d.drive = whatif.DriveOf(d.name, d.record); !f.writes() {
			d.drive.Write = 0
		}
	}
	drive.Set(slowdrive.Delays{})
	return nil
}

// drive makes the runs, as an experiment whose configurations are drives and numbers of users.
func (f *whatifFlags) drive(i *interrupts, cmd *cobra.Command, drive *slowdrive.Drive, stderr io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "target: %q\nrestore: none\nsettle: 0s\nidle: 0s\ncooldown: 0s\npractice: 0\n", f.load.target)
	// A checkpoint flushes hundreds of files, which would take long.
	text.WriteString("checkpoint-first: false\nramp-rate: 1000\n")
	fmt.Fprintf(&text, "warmup-time: %s\nrun-time: %s\nruns: %d\n", f.warmup, f.run, f.runs)
	if f.seed > 0 {
		fmt.Fprintf(&text, "seed: %d\n", f.seed)
	}
	text.WriteString("configurations:\n")
	around := map[string]func() func(){}
	made, all := 0, len(f.drives)*len(f.threads)*f.runs
	for _, d := range f.drives {
		for _, users := range f.threads {
			name := configurationOf(d.name, users)
			fmt.Fprintf(&text, "  %q: {threads: %d}\n", name, users)
			around[name] = func() func() {
				made++
				fmt.Fprintf(stderr, "run %d of %d: %s\n", made, all, name)
				slow := time.AfterFunc(f.warmup/2, func() { drive.Set(d.delays) }) // buffers fill at full speed
				return func() { slow.Stop(); drive.Set(slowdrive.Delays{}) }       // for the audit
			}
		}
	}
	file, err := parseExperiment("whatif", []byte(text.String()))
	if err != nil {
		return err
	}
	for _, c := range file.configurations {
		c.bench.around = around[c.Name]
		c.bench.observe.Own = []monitor.OwnDrive{
			{Drive: monitor.Drive{Name: "slow-data", Roles: []monitor.Role{monitor.Data}},
				Counts: func() [6]float64 { data, _ := drive.Counts(); return data }},
			{Drive: monitor.Drive{Name: "slow-log", Roles: []monitor.Role{monitor.Log}},
				Counts: func() [6]float64 { _, log := drive.Counts(); return log }},
		}
	}
	experiment := experimentFlags{shownFlags: shownFlags{quiet: true}, out: f.out}
	return experiment.make(i, cmd, io.Discard, file, f.out)
}

func configurationOf(drive string, users int) string {
	return fmt.Sprintf("%s, %d users", drive, users)
}

// Files of a model in its directory.
const (
	modelFile = "model.json"
	modelPage = "model.html"
)

// conclude fits the model to the records of the runs, and shows it.
func (f *whatifFlags) conclude(cmd *cobra.Command, of string) error {
	record, err := result.ReadSummary[result.Experiment](f.out)
	if err != nil {
		return err
	}
	for i, d := range f.drives { // also where no model can be fitted
		if err := d.record.Save(filepath.Join(f.out, fmt.Sprintf("drive-%d.json", i+1))); err != nil {
			return err
		}
	}
	var fitted, others []whatif.Observation
	var figure whatif.Figure
	for _, c := range record.Configurations {
		bench, err := result.ReadSummary[result.Bench](filepath.Join(f.out, c.Dir))
		if err != nil {
			return err
		}
		users := bench.Setup.Threads
		at := slices.IndexFunc(f.drives, func(d whatifDrive) bool { return c.Name == configurationOf(d.name, users) })
		if at < 0 {
			continue
		}
		d := f.drives[at]
		for _, run := range conclude.Counted(bench) {
			if run.Figure == nil {
				continue
			}
			summary, err := result.ReadSummary[result.Summary](filepath.Join(f.out, c.Dir, run.Dir))
			if err != nil {
				return err
			}
			unit := run.Figure.Unit
			if figure.Unit != "" && unit != figure.Unit {
				return fmt.Errorf("fit a model: some runs came to %s, others to %s: "+
					"make runs longer, so that I/Os are counted in each", figure.Unit, unit)
			}
			figure = whatif.Figure{Unit: unit, Name: bench.Words.Spelled(unit), One: bench.Words.A()}
			o := whatif.Observation{
				Drive: d.drive, Users: users, Rate: summary.Windows[0].OPM / 60, Value: run.Figure.Value,
			}
			if d.fits {
				fitted = append(fitted, o)
			} else {
				others = append(others, o)
			}
		}
	}
	model, err := whatif.Fit(fitted, runtime.NumCPU(), figure)
	if err != nil {
		return err
	}
	model.KitVersion, model.Start, model.Store = kitVersion(), record.Start, of
	model.Check(fitted, others)
	path := filepath.Join(f.out, modelFile)
	if err := model.Save(path); err != nil {
		return err
	}
	page := report.Whatif(model, slices.Max(f.threads), nil, nil)
	if err := atomicfile.Write(filepath.Join(f.out, modelPage), page.HTML); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "model: %s\n", path)
	return shown{page: page, record: model}.write(cmd.OutOrStdout(), f.formatFlags)
}

func newWhatifPredictCommand() *cobra.Command {
	var f formatFlags
	var threads int
	cmd := &cobra.Command{
		Use:   "predict MODEL DEVICE.json...",
		Short: "Predict the OPM or IOPS of drives by their records, and rank them",
		Long: `Predicts by a model of ds2 whatif learn what its store would do on drives, by the records of ds2
device or fio's own JSON (random reads of 4 to 16 kB at one or more depths, writes with fdatasync=1
and, where the model has writes of data, random writes). A drive outside the range in which the
model was fitted is refused: exit 4.`,
		Example: `  ds2 whatif predict model/model.json array-a.json array-b.json
  ds2 whatif predict model/model.json vendor-fio.json --threads 16 -o html > drives.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("name a model of ds2 whatif learn, and records of ds2 device or fio")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			model, err := whatif.Read(args[0])
			if err != nil {
				return &exitError{exitUsage, err}
			}
			p := predictions{Model: args[0], Drives: []whatif.Prediction{}}
			threads := cmp.Or(threads, int(model.Users.High))
			for _, path := range args[1:] {
				record, err := device.ReadOrFio(path)
				if err != nil {
					return &exitError{exitUsage, err}
				}
				drive := whatif.DriveOf(strings.TrimSuffix(filepath.Base(path), ".json"), record)
				one, err := model.Predict(drive, threads)
				if refusal, refused := errors.AsType[whatif.Refusal](err); refused {
					p.Refused = append(p.Refused, refusal)
				} else {
					p.Drives = append(p.Drives, one)
				}
			}
			slices.SortStableFunc(p.Drives, func(a, b whatif.Prediction) int { return cmp.Compare(b.Value, a.Value) })
			page := report.Whatif(model, threads, p.Drives, p.Refused)
			if err := (shown{page: page, record: p}).write(cmd.OutOrStdout(), f); err != nil {
				return err
			}
			if len(p.Refused) > 0 {
				err := fmt.Errorf("cannot tell for %d of %d drives: %w", len(p.Refused), len(args)-1, p.Refused[0])
				return &exitError{exitUnknown, err}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&threads, "threads", 0, "users; also --n-threads (default the "+
		"most that the model was fitted with)")
	cmd.Flags().Lookup("threads").DefValue = ""
	f.add(cmd.Flags(), "text", "html", "markdown", "json")
	return cmd
}

// predictions are what predict writes as JSON.
type predictions struct {
	Model   string              `json:"model"`
	Drives  []whatif.Prediction `json:"drives"` // the best first
	Refused []whatif.Refusal    `json:"refused,omitempty"`
}
