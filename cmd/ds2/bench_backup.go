package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/backup"
	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/report"
	"ds2/internal/result"
)

// benchBackupFlags are the flags of ds2 bench-backup.
type benchBackupFlags struct {
	targetFlags
	observe     observeFlags
	out, output string
	quiet       bool
}

func newBenchBackupCommand() *cobra.Command {
	var f benchBackupFlags
	cmd := &cobra.Command{
		Use:   "bench-backup",
		Short: "Measure how fast the servers read their databases for a backup, which is discarded",
		Long: `Has all servers read at once what a backup reads, and discards it. The result is MB/s of each and in
total, and the latency and size of the drives' reads. Nothing is left on the servers.

PostgreSQL backs up a whole cluster without its log, by BASE_BACKUP: from version 15 on the server
discards it (TARGET 'blackhole'), older ones send it to ds2. The user needs REPLICATION and a line
for replication in pg_hba.conf. The checkpoint at its beginning is not timed. SQL Server backs up
each database by BACKUP DATABASE … TO four times DISK = 'NUL' WITH COPY_ONLY, CHECKSUM,
NO_COMPRESSION, MAXTRANSFERSIZE = 4194304, and needs db_backupoperator.

Pages in the kernel's cache are not read from the drives; "from the drives" is what was.`,
		Example: `  ds2 bench-backup --target postgres://postgres@localhost/mail
  ds2 bench-backup --target postgres://postgres@localhost:5432/mail \
      --target postgres://postgres@localhost:5433/mail
  ds2 report ds2-results/20261121T041500Z-k7c2`, SuggestFor: []string{"backup"},
		Args: flagsOnly,
		RunE: interruptible("the servers end their reading", f.run),
	}
	flags := cmd.Flags()
	f.targetFlags.add(flags)
	all := pflag.NewFlagSet("observe", pflag.ContinueOnError)
	f.observe.add(all)
	for _, name := range []string{"devices", "exporter"} {
		flags.AddFlag(all.Lookup(name))
	}
	flags.StringVar(&f.out, "out", "", "directory for the record, new or empty (default ds2-results/<start>-<run id>)")
	flags.VarP(oneOf(&f.output, "text", "json"), "output", "o", "format of the result")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	return cmd
}

func (f *benchBackupFlags) run(i *interrupts, cmd *cobra.Command, _ []string) error {
	if err := checkOut(f.out); err != nil {
		return err
	}
	stores, release, err := f.openLocked(i, cmd)
	if err != nil {
		return err
	}
	defer release()
	observer, err := monitor.Observe(i.soft, stores, 0, f.observe.Options)
	if e, ok := errors.AsType[*monitor.OptionError](err); ok {
		return flagError(e.Field, e.Unwrap())
	}
	if err != nil {
		return err
	}
	for _, note := range observer.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "note:", note)
	}
	id := newRunID()
	tell, stop := showProgress(f.quiet, cmd.ErrOrStderr())("bench-backup", progress.Bytes)
	defer stop()
	o := backup.Options{
		Targets: stores, Dir: recordDir(f.out, id), RunID: id, Version: kitVersion(),
		Command: invocation(cmd, cmd.Flags(), nil), Observer: observer, Tell: tell,
	}
	b, err := backup.Run(i.soft, o)
	stop()
	if b.Status != result.Running { // else there is none
		defer fmt.Fprintf(cmd.ErrOrStderr(), "record: %s\n", o.Dir)
	}
	if err != nil {
		return outError(err)
	}
	b.Command = nil // it was typed a moment ago; the record has it
	if f.output == "json" {
		return printJSON(cmd.OutOrStdout(), b)
	}
	return report.Backup(b).Text(cmd.OutOrStdout(), true)
}
