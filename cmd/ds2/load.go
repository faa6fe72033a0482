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
	"ds2/datagen/folder"
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
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Make a database and fill it with a dataset",
		Long: `Creates the database if it does not exist, generates the dataset and streams it
into the tables, then creates indexes, keys, procedures and statistics. Nothing
is written to this machine's disk.

--from loads the files that ds2 generate wrote. SQL Server reads them itself:
--server-dir is their path as the server sees it, a share or one of its disks.

A database that already holds data is refused, unless --drop is given. That
drops the workload's tables and functions first, and nothing else in the
database. To remove them for good: ds2 schema --phase drop | psql URL.

With --parallel up to 4, PostgreSQL gets each table in one transaction, so that
rows are written once and need no vacuum; --resume continues with the first
incomplete table. With more, sessions share a table, rows are frozen afterwards,
and --resume continues after the last complete part.`,
		Example: `  ds2 load --target postgres://ds2:ds2@localhost/ds2 --size S
  ds2 load --target postgres://ds2:ds2@localhost/ds2 --size 20GB --drop
  ds2 load --target postgres://ds2:ds2@localhost/ds2 --from dataset
  ds2 load --target postgres://ds2:ds2@localhost/mail --workload mailbox \
      --mailboxes 500 --mailbox-size 250MB
  ds2 load --target 'sqlserver://sa:password@localhost?database=DS2' --size W \
      --files-per-filegroup 8 --data-dir 'E:\DS2'
  ds2 load --target 'sqlserver://sa:password@localhost?database=DS2' \
      --from /mnt/dataset --server-dir '\\files\dataset'

PowerShell:
  ds2 load --target 'sqlserver://sa:password@db1?database=DS2' --size W`,
		RunE: interruptible("finished parts stay, for --resume", f.run),
	}
	flags := cmd.Flags()
	f.targetFlags.add(flags)
	f.flags = flags
	flags.StringVar(&f.workload, "workload", ds2.Name,
		"workload that the database is for: "+workloadNames())
	flags.StringVar(&f.size, "size", "", "size of the dataset, such as S or 80GB, or rows as "+
		"ds2 sizes --help has them; also --db-size, --db-size-str")
	flags.StringVar(&f.words, "words", "",
		"file of word lists for titles and actors (default: built-in)")
	flags.Uint64Var(&f.dataSeed, "data-seed", 0, dataSeedUsage)
	flags.StringVar(&f.from, "from", "",
		"directory that ds2 generate wrote, to load instead of a new dataset")
	complete(flags, "size", "S", "M", "W", "L")
	completeDirectories(flags, "from")
	flags.BoolVar(&f.options.Drop, "drop", false, "drop this workload's data first")
	flags.BoolVar(&f.options.Resume, "resume", false,
		"continue an unfinished load of the same dataset")
	flags.IntVar(&f.options.AtOnce, "parallel", 0,
		"tables or parts copied, and indexes built, at once")
	flags.Lookup("parallel").DefValue = "the number of CPUs, at least 2, at most one per 256 MiB " +
		"of half the server's memory"
	under(flags, ofDataset, "workload", "size", "resume", "drop")
	addMailboxes(flags, &f.mailbox)
	f.addPlacement(flags)
	f.addAddress(flags)
	quietFlag(flags, &f.quiet)
	under(flags, ofOutput, "quiet")
	return cmd
}

// maxFiles is a limit against slips of the keyboard: SQL Server's own is 32,767 files in a
// database.
const maxFiles = 256

// defaultRecovery is what SQL Server gives a new database, and maxRecovery what no log of a test
// needs.
const defaultRecovery, maxRecovery = 60, 86400

// addPlacement declares the flags for the placement of a database, and on SQL Server for the login
// that the driver gets there and for files that the server reads itself.
func (f *loadFlags) addPlacement(flags *pflag.FlagSet) {
	p := &f.options.Schema
	l := &f.options.Schema.Layout
	flags.StringVar(&p.DataTablespace, "data-tablespace", "",
		"PostgreSQL: tablespace of the tables (default: the database's)")
	flags.StringVar(&p.IndexTablespace, "index-tablespace", "",
		"PostgreSQL: tablespace of the indexes (default: the database's)")
	flags.IntVar(&l.FilesPerFilegroup, "files-per-filegroup", 1,
		"SQL Server: files of each of the four filegroups; a quarter to one per core")
	flags.StringVar(
		&l.DataDir,
		"data-dir",
		"",
		"SQL Server: directory of the data files, as the server sees "+
			"it (default: the server's)",
	)
	flags.StringVar(&l.LogDir, "log-dir", "",
		"SQL Server: directory of the log file (default: the server's)")
	flags.Int64Var(
		&l.LogMB,
		"log-size",
		0,
		"SQL Server: size of the log file in MB; an order writes about 6 "+
			"kB, and a log that grows stalls the run (default: 40 % of the data, at least 256)",
	)
	flags.IntVar(
		&f.recovery,
		"target-recovery-time",
		defaultRecovery,
		"SQL Server: target recovery time in seconds, "+
			"for which changed pages are written all the time; 0 = checkpoints about once a minute, as before 2016",
	)
	flags.StringVar(&l.Login, "driver-login", "ds2user",
		"SQL Server: login and user that own the database, created with --driver-password-file")
	flags.StringVar(&f.passwordFile, "driver-password-file", "",
		"SQL Server: file with the password for --driver-login on its first line")
	flags.StringVar(
		&l.FilesDir,
		"server-dir",
		"",
		"SQL Server: the directory of --from as the server sees "+
			"it, to read the files by BULK INSERT",
	)
	under(flags, ofPlacement)
}

// checkLayout refuses a layout that cannot be, and reads what else belongs to it.
func (f *loadFlags) checkLayout(ctx context.Context) error {
	l := &f.options.Schema.Layout
	switch {
	case l.FilesPerFilegroup < 1 || l.FilesPerFilegroup > maxFiles:
		return usageError("--files-per-filegroup is %d: it must be 1 to %d", l.FilesPerFilegroup,
			maxFiles)
	case f.recovery < 0 || f.recovery > maxRecovery:
		return usageError("--target-recovery-time is %d: it must be 0 to %d seconds", f.recovery,
			maxRecovery)
	case l.LogMB < 0:
		return usageError("--log-size is %d: it must be 0 or more", l.LogMB)
	case l.Login == "":
		return usageError("--driver-login is empty: " +
			"leave --driver-password-file out for a database without its own login")
	}
	if f.recovery != defaultRecovery {
		l.TargetRecovery = &f.recovery
	}
	if f.passwordFile != "" {
		text, err := outside.ReadFile(ctx, f.passwordFile, outside.MaxText)
		if err != nil {
			return flagError("driver-password-file", err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if l.Password = strings.TrimSuffix(first, "\r"); l.Password == "" {
			return usageError("--driver-password-file: %s: the first line is empty", f.passwordFile)
		}
	}
	return nil
}

// run loads every target, one after the other.
func (f *loadFlags) run(i *interrupts, cmd *cobra.Command, _ []string) error {
	switch {
	case f.flags.Changed("parallel") && (f.options.AtOnce < 1 || f.options.AtOnce > 1000):
		return usageError("--parallel is %d: it must be 1 to 1000", f.options.AtOnce)
	case f.options.Drop && f.options.Resume:
		return usageError("--drop and --resume exclude each other: start again, or continue")
	}
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
			return usageError("--from: %s reads the files itself: add --server-dir, "+
				"or load the same rows without files by --size", s.Engine())
		}
	}
	unlock, err := i.lockStores("load", "", stores, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer unlock()
	if err := f.serve(i, cmd, f.quiet, ""); err != nil {
		return err
	}
	for _, s := range stores {
		report, err := f.load(i, s, cmd.ErrOrStderr())
		for _, line := range report.LeftOut {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
		if report.Growth != "" {
			warn(cmd.ErrOrStderr(), "%s", report.Growth)
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
	if err := notOf(f.workload, f.flags, func(t tenant) []string {
		return t.loadFlags
	}); err != nil {
		return err
	}
	f.options.Dataset, err = t.dataset(f)
	return err
}

// ds2 is a dataset of DS2.
func (f *loadFlags) ds2() (workload.Dataset, error) {
	switch {
	case f.size == "" && f.from == "":
		return nil, usageError("--size is missing: S is the smallest, see ds2 sizes; " +
			"with --resume it is that of the load that was interrupted")
	case f.words != "" && f.from != "":
		return nil, usageError("--words and --from exclude each other: " +
			"the files in the directory have their words already")
	case f.dataSeed != 0 && f.from != "":
		return nil, usageError("--data-seed and --from exclude each other: " +
			"the files in the directory have their rows already")
	case f.options.Schema.Layout.FilesDir != "" && f.from == "":
		return nil, usageError(
			"--server-dir needs --from, which names the same directory as this machine sees it: " +
				"its manifest says what the files hold",
		)
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

func (f *loadFlags) directory() (workload.Dataset, error) {
	dir, err := folder.Open(f.from)
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

func (f *loadFlags) load(
	i *interrupts,
	engine store.Database,
	stderr io.Writer,
) (*load.Report, error) {
	options := f.options
	tell, stop := showProgress(f.quiet, stderr)("load", progress.Work)
	defer stop()
	follow := live.NewLoad(tell)
	title := fmt.Sprintf("%s into %s", options.Dataset, engine.Label())
	i.served.show(follow.Show(title), metrics.NewLoadCollector(follow.Tables))
	defer i.served.rest("")
	options.Progress = follow
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
			fmt.Fprintf(stderr, "%s: loading %d tables or parts in parallel "+
				"(%d CPUs%s; change with --parallel)\n",
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
	return fmt.Errorf("%w; the server's log says why: it may have run out of memory or of room; "+
		"the same command with --resume continues it, with --parallel 1 if memory was short", err)
}

func printLoad(w io.Writer, s store.Database, data workload.Dataset, r *load.Report) {
	fmt.Fprintf(w, "loaded %s into %s in %s\n", data, s.Label(),
		r.Elapsed.Round(100*time.Millisecond))
	for _, p := range r.Phases {
		share := 100 * p.Time.Seconds() / r.Elapsed.Seconds()
		fmt.Fprintf(w, "  %-12s %10s  %3.0f %%\n", p.Phase, p.Time.Round(10*time.Millisecond),
			share)
	}
	fmt.Fprintf(w, "  %-12s %14s %10s %12s %10s\n", "table", "rows", "bytes", "rows/s", "MB/s")
	for _, t := range r.Tables {
		if rows, bytes := t.Rate(); rows > 0 {
			fmt.Fprintf(w, "  %-12s %14d %10s %12.0f %10.1f", t.Table, t.Rows, bytesText(t.Bytes),
				rows, bytes/1e6)
		} else {
			fmt.Fprintf(w, "  %-12s %14d %10s %12s %10s", t.Table, t.Rows, "-", "-", "-")
		}
		if t.Before > 0 {
			fmt.Fprintf(w, "  %d rows loaded before", t.Before)
		}
		fmt.Fprintln(w)
	}
}
