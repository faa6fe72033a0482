package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/upkeep"
	"ds2/internal/workload"
)

func newResetCommand() *cobra.Command {
	var discardLog bool
	cmd := newEachCommand("reset", "the reset is rolled back",
		"reset", "the server rolls back what was not finished",
		func(i *interrupts, s store.Database, show progress.View) error {
			return upkeep.ResetDatabase(i.Soft, s, workloads(), discardLog, show)
		})
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

// newSnapshotWork is one of the commands below snapshot.
func newSnapshotWork(work upkeep.SnapshotWork, done, cut string) *cobra.Command {
	return newEachCommand(string(work), "the running statement is canceled", done, cut,
		func(i *interrupts, s store.Database, show progress.View) error {
			tell := func(line string) { fmt.Fprintln(i.stderr, line) }
			return upkeep.Snapshot(i.Soft, s, work, show, tell)
		})
}

// newEachCommand is a command that does something to every target, one after the other. First says
// what the first Ctrl-C does, done what has been done to a target, which is printed with the time
// that it took, and cut what an interruption leaves behind.
func newEachCommand(
	name, first, done, cut string,
	do func(*interrupts, store.Database, progress.View) error,
) *cobra.Command {
	var f targetFlags
	var quiet bool
	run := func(i *interrupts, cmd *cobra.Command, _ []string) error {
		stores, release, err := f.openLocked(i, cmd)
		if err != nil {
			return err
		}
		defer release()
		for _, s := range stores {
			// Targets one by one: at once they would share drives, and no time would be that of
			// one.
			start := time.Now()
			if err := do(i, s, showProgress(quiet, i.stderr)); err != nil {
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
	cmd := newCommand(name, interruptible(first, run))
	cmd.Args = flagsOnly
	f.add(cmd.Flags())
	declare(cmd.Flags(), "shown", fields{"quiet": &quiet})
	return cmd
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
