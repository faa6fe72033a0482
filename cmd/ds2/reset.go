package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/store"
	"ds2/internal/upkeep"
	"ds2/internal/workload"
)

func newResetCommand() *cobra.Command {
	var f eachFlags
	var discardLog bool
	cmd := newCommand("reset", interruptible(
		"the reset is rolled back",
		func(i *interrupts, cmd *cobra.Command, _ []string) error {
			return f.each(
				i,
				cmd,
				"reset",
				"the server rolls back what was not finished",
				func(s store.Database) error {
					return upkeep.ResetDatabase(i.Soft, s, workloads(), discardLog,
						showProgress(f.quiet, i.stderr))
				},
			)
		},
	))
	f.add(cmd.Flags())
	declare(cmd.Flags(), "restore", fields{"discard-log": &discardLog})
	return cmd
}

func newSnapshotCommand() *cobra.Command {
	cmd := newCommand("snapshot", nil)
	cmd.Args = cobra.NoArgs
	cmd.AddCommand(
		newSnapshotWork(upkeep.SnapshotCreate, "copied",
			"an older copy is still there: make the new one again"),
		newSnapshotWork(upkeep.SnapshotRestore, "restored",
			"the database is missing or incomplete: restore it again"),
		newSnapshotWork(upkeep.SnapshotDrop, "dropped the copy of",
			"the copy may still exist: drop it again"),
	)
	return cmd
}

// newSnapshotWork is one of the commands below snapshot. Cut is what an interruption leaves behind.
func newSnapshotWork(work upkeep.SnapshotWork, done, cut string) *cobra.Command {
	var f eachFlags
	run := func(i *interrupts, cmd *cobra.Command, _ []string) error {
		tell := func(line string) { fmt.Fprintln(i.stderr, line) }
		return f.each(i, cmd, done, cut, func(s store.Database) error {
			return upkeep.Snapshot(i.Soft, s, work, showProgress(f.quiet, i.stderr), tell)
		})
	}
	cmd := newCommand(string(work), interruptible("the running statement is canceled", run))
	cmd.Args = flagsOnly
	f.add(cmd.Flags())
	return cmd
}

// eachFlags are those of a command that does something to every target.
type eachFlags struct {
	targetFlags
	quiet bool
}

func (f *eachFlags) add(flags *pflag.FlagSet) {
	f.targetFlags.add(flags)
	declare(flags, "shown", fields{"quiet": &f.quiet})
}

// each does something to every target, one after the other, and says how long it took, or what it
// leaves behind when it is cut off.
func (f *eachFlags) each(
	i *interrupts,
	cmd *cobra.Command,
	done, cut string,
	do func(store.Database) error,
) error {
	stores, release, err := f.openLocked(i, cmd)
	if err != nil {
		return err
	}
	defer release()
	for _, s := range stores {
		start := time.Now()
		if err := do(s); err != nil {
			if i.Soft.Err() != nil {
				err = fmt.Errorf("interrupted; %s: %w", cut, err)
			}
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s in %s\n", done, s.Label(),
			time.Since(start).Round(100*time.Millisecond))
	}
	return nil
}

// restoreFlags say how the databases are restored before each of several runs.
type restoreFlags struct{ upkeep.Restore }

func (f *restoreFlags) add(flags *pflag.FlagSet) {
	declare(flags, "restore", fields{
		"restore":         &f.Way,
		"restore-command": &f.Command,
		"discard-log":     &f.DiscardLog,
	})
}

// check refuses a way that databases of a workload cannot go.
func (f *restoreFlags) check(w workload.Workload) error {
	if _, ok := w.(workload.Resetter); !ok && f.RestoreName() == upkeep.RestoreReset {
		return usageError("--restore is reset, and databases of workload %s cannot be reset: use --restore snapshot, after ds2 snapshot create", w.Name())
	}
	return nil
}

// to is the restore, which tells stderr what it does.
func (f *restoreFlags) to(stderr io.Writer) upkeep.Restore {
	f.Workloads = workloads()
	f.Output = stderr
	if s, ok := stderr.(*screen); ok { // what the command leaves running may go on to write there
		f.Output = s.w
	}
	f.Progress = showProgress(false, stderr)
	return f.Restore
}
