package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/datagen"
	"ds2/datagen/directory"
	"ds2/internal/live"
	"ds2/internal/load"
	"ds2/internal/metrics"
	"ds2/internal/monitor"
	"ds2/internal/outside"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/mailbox"
	"ds2/schema"
)

// loadFlags say what is loaded into which databases, and how these are laid out.
type loadFlags struct {
	targetFlags
	flags             *pflag.FlagSet // that they were declared in
	workload          string
	size, words, from string
	dataSeed          uint64
	quiet             bool
	metricsFlags
	observe      monitor.Options // of the server, for how much is loaded at once
	options      load.Options
	passwordFile string
	recovery     int // seconds; defaultRecovery: the server's own
	mailbox      mailbox.Dataset
}

func newLoadCommand() *cobra.Command {
	var f loadFlags
	cmd := newCommand("load", interruptible("finished parts stay, for --resume", f.run))
	flags := cmd.Flags()
	f.targetFlags.add(flags)
	f.flags = flags
	declare(flags, "load", fields{
		"workload":  &f.workload,
		"size":      &f.size,
		"words":     &f.words,
		"data-seed": &f.dataSeed,
		"from":      &f.from,
		"drop":      &f.options.Drop,
		"resume":    &f.options.Resume,
		"parallel":  &f.options.AtOnce,
	})
	addMailboxes(flags, &f.mailbox)
	f.addPlacement(flags)
	declare(flags, "metrics", fields{"metrics-addr": &f.metricsAddr})
	declare(flags, "shown", fields{"quiet": &f.quiet})
	return cmd
}

// defaultRecovery is what SQL Server gives a new database, in seconds.
const defaultRecovery = 60

// addPlacement declares the flags for the placement of a database, and on SQL Server for the login
// that the driver gets there and for files that the server reads itself.
func (f *loadFlags) addPlacement(flags *pflag.FlagSet) {
	p := &f.options.Schema
	l := &p.Layout
	declare(flags, "placement", fields{
		"data-tablespace":      &p.DataTablespace,
		"index-tablespace":     &p.IndexTablespace,
		"files-per-filegroup":  &l.FilesPerFilegroup,
		"data-dir":             &l.DataDir,
		"log-dir":              &l.LogDir,
		"log-size":             &l.LogMB,
		"target-recovery-time": &f.recovery,
		"driver-login":         &l.Login,
		"driver-password-file": &f.passwordFile,
		"server-dir":           &l.FilesDir,
	})
}

// checkLayout refuses a layout that cannot be, and reads what else belongs to it.
func (f *loadFlags) checkLayout(ctx context.Context) error {
	l := &f.options.Schema.Layout
	if l.Login == "" {
		return usageError("--driver-login is empty: leave --driver-password-file out for a database without its own login")
	}
	if f.recovery != defaultRecovery {
		l.TargetRecovery = &f.recovery
	}
	if f.passwordFile != "" {
		text, err := outside.ReadFile(ctx, f.passwordFile, outside.MaxText)
		if err != nil {
			return flagError("driver-password-file", err)
		}
		// The first line, as other tools read such files, also where Windows wrote it.
		first, _, _ := strings.Cut(string(text), "\n")
		if l.Password = strings.TrimSuffix(first, "\r"); l.Password == "" {
			return usageError("--driver-password-file: %s: the first line is empty", f.passwordFile)
		}
	}
	return nil
}

// run loads every target, one after the other.
func (f *loadFlags) run(i *interrupts, cmd *cobra.Command, _ []string) error {
	if err := cmp.Or(f.metricsFlags.check(), f.dataset(), f.checkLayout(i.Soft)); err != nil {
		return err
	}
	stores, err := f.open()
	if err != nil {
		return err
	}
	defer closeStores(stores)
	for _, s := range stores {
		given := f.options.Schema.Layout.FilesDir != ""
		reads := schema.ReadsFiles(s.Engine())
		if given && !reads {
			return usageError("--server-dir: %s cannot read the files itself: leave it out",
				s.Engine())
		}
		if f.from != "" && reads && !given {
			return usageError("--from: %s reads the files itself: add --server-dir, or load the same rows without files by --size", s.Engine())
		}
	}
	unlock, err := i.lockStores("load", "", stores)
	if err != nil {
		return err
	}
	defer unlock()
	if err := f.serve(i, cmd, f.quiet, ""); err != nil {
		return err
	}
	for _, s := range stores {
		report, err := f.load(i, s)
		for _, line := range report.LeftOut {
			fmt.Fprintln(i.stderr, line)
		}
		if report.Growth != "" {
			warn(i.stderr, "%s", report.Growth)
		}
		if err != nil {
			return interrupted(i.Soft, serverLost(err, report),
				"load interrupted; the same command with --resume continues it")
		}
		printLoad(cmd.OutOrStdout(), s, f.options.Dataset, report)
	}
	return nil
}

// dataset reads what is to be loaded.
func (f *loadFlags) dataset() (err error) {
	f.options.Version = kitVersion()
	t, ok := tenants()[f.workload]
	if !ok {
		names := strings.Join(workloads().Names(), " or ")
		return usageError("--workload: unknown workload %q: use %s", f.workload, names)
	}
	if err := notOf(f.workload, f.flags); err != nil {
		return err
	}
	f.options.Dataset, err = t.dataset(f)
	return err
}

// ds2 is a dataset of DS2.
func (f *loadFlags) ds2() (workload.Dataset, error) {
	switch {
	case f.size == "" && f.from == "":
		return nil, usageError("--size is missing: S is the smallest, see ds2 sizes; with --resume it is that of the load that was interrupted")
	case f.from != "":
		return f.directory()
	}
	size, err := parseSize(f.size)
	if err != nil {
		return nil, err
	}
	words, err := readWords(f.words)
	if err != nil {
		return nil, err
	}
	data, err := datagen.New(size, words, datagen.Options{Seed: f.dataSeed})
	if err != nil {
		return nil, flagError("size", err)
	}
	return ds2.Dataset{Size: size, Words: words.Sum(), Seed: f.dataSeed, Rows: data.Parts()}, nil
}

// directory is the dataset of files that ds2 generate wrote: its size is that of the manifest, and
// where the server reads the files itself, the layout names them.
func (f *loadFlags) directory() (workload.Dataset, error) {
	dir, err := directory.Open(f.from)
	if err != nil {
		return nil, flagError("from", err)
	}
	if f.size != "" {
		size, err := parseSize(f.size)
		if err != nil {
			return nil, err
		}
		if size != dir.Manifest.Size {
			return nil, usageError(
				"--size: directory %s holds a dataset of size %s, not %s; leave --size out",
				f.from,
				dir.Manifest.Size,
				size,
			)
		}
	}
	parts, err := dir.Parts()
	if err != nil {
		return nil, flagError("from", err)
	}
	data := ds2.Dataset{
		Size:  dir.Manifest.Size,
		Words: dir.Manifest.Words,
		Seed:  dir.Manifest.DataSeed,
		Rows:  parts,
	}
	if l := &f.options.Schema.Layout; l.FilesDir != "" {
		l.CRLF = dir.Manifest.Lines == "crlf"
		for _, e := range dir.Manifest.Files {
			l.Files = append(l.Files,
				schema.ServerFile{Name: e.Name, Table: string(e.Table), Rows: e.Rows})
		}
	}
	return data, nil
}

// load loads one database and shows how far it is. Server is asked only where --parallel is not
// given: each session that loads takes memory of the server.
func (f *loadFlags) load(i *interrupts, engine store.Database) (*load.Report, error) {
	options := f.options
	tell, stop := showProgress(f.quiet, i.stderr)("load", progress.Work)
	defer stop()
	follow := live.NewLoad(tell)
	title := fmt.Sprintf("%s into %s", options.Dataset, engine.Label())
	i.served.show(follow.Show(title), metrics.NewLoadCollector(follow.Tables))
	defer i.served.rest("")
	options.Progress = follow
	// Asked before the load and not observed during it: only how many sessions it bears is wanted.
	options.Server = func(ctx context.Context, s store.Database) (memory int64, cpus float64) {
		o, err := monitor.Observe(ctx, []store.Database{s}, 0, f.observe)
		if err != nil {
			return 0, 0
		}
		available := o.Available(0)
		return available.MemoryBytes, available.Processors
	}
	if !f.quiet {
		options.Chosen = func(sessions int, memory int64) {
			known := ""
			if memory > 0 {
				known = ", server memory " + bytesText(memory)
			}
			fmt.Fprintf(i.stderr, "%s: loading %d tables or parts in parallel (%d CPUs%s; change with --parallel)\n",
				engine.Label(), sessions, runtime.NumCPU(), known)
		}
	}
	report, err := load.Run(i.Soft, engine, options)
	if err == nil { // now, as just before a run it would have the server read tables
		_, err = tenants()[f.workload].Mark(i.Soft, engine, true)
	}
	return report, err
}

// serverLost adds to the error of a load whose server went away what can be done about it.
func serverLost(err error, r *load.Report) error {
	e, ok := errors.AsType[*store.Error](err)
	said := ok && e.Code != "" && e.Hint != "" // by the server itself
	tables := slices.ContainsFunc(r.Phases, func(p load.PhaseTime) bool {
		return p.Phase == schema.Tables
	})
	if !ok || said || e.Class != store.Connection || !tables {
		return err
	}
	return fmt.Errorf("%w; the server's log says why: it may have run out of memory or of room; the same command with --resume continues it, with --parallel 1 if memory was short", err)
}

// printLoad prints how long each phase took and how fast each table was loaded. What an earlier
// load left has no rate.
func printLoad(w io.Writer, s store.Database, data workload.Dataset, r *load.Report) {
	loaded := "loaded"
	if slices.ContainsFunc(r.Tables, func(t load.TableReport) bool { return t.Before > 0 }) {
		loaded = "finished loading"
	}
	fmt.Fprintf(w, "%s %s into %s in %s\n", loaded, data, s.Label(),
		r.Elapsed.Round(100*time.Millisecond))
	for _, p := range r.Phases {
		share := 100 * p.Time.Seconds() / r.Elapsed.Seconds()
		fmt.Fprintf(w, "  %-12s %10s  %3.0f %%\n", p.Phase, p.Time.Round(10*time.Millisecond),
			share)
	}
	fmt.Fprintf(w, "  %-12s %14s %10s %12s %10s\n", "table", "rows", "bytes", "rows/s", "MB/s")
	for _, t := range r.Tables {
		rate := fmt.Sprintf("%10s %12s %10s", "-", "-", "-")
		if rows, bytes := t.Rate(); rows > 0 {
			rate = fmt.Sprintf("%10s %12.0f %10.1f", bytesText(t.Bytes), rows, bytes/1e6)
		}
		fmt.Fprintf(w, "  %-12s %14d %s", t.Table, t.Rows, rate)
		if t.Before > 0 {
			fmt.Fprintf(w, "  %d rows loaded before", t.Before)
		}
		fmt.Fprintln(w)
	}
}
