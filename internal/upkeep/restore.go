// Package upkeep is what is done to databases beside the runs: reset, snapshots, restores before a
// run, and checks to the last page.
package upkeep

import (
	"context"
	"fmt"
	"io"

	"ds2/internal/load"
	"ds2/internal/progress"
	"ds2/internal/shell"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// The ways in which databases are restored before each of several runs.
const (
	RestoreReset    = "reset"
	RestoreSnapshot = "snapshot"
	RestoreNone     = "none"
	RestoreVolume   = "volume" // a new server on a new volume, which is not for this package to make
)

// Restore is how databases get back to where every run starts.
type Restore struct {
	Way        string // RestoreReset, RestoreSnapshot or RestoreNone
	Command    string // of the shell, instead of Way
	DiscardLog bool   // see Reset
	Workloads  workload.Workloads
	Output     io.Writer

	Progress progress.View // shows the reset, or the copying
}

// RestoreName is the way as a record tells it.
func (r Restore) RestoreName() string {
	if r.Command != "" {
		return "command"
	}
	return r.Way
}

// RestoreTargets restores the targets, one after the other. It ends when stop is over, but for the
// copying of a snapshot, without whose end there is no database: that ends with ctx.
func (r Restore) RestoreTargets(ctx, stop context.Context, targets []store.Database) error {
	if r.Command != "" {
		tell, end := r.Progress("restore", progress.Work)
		tell("wait for the restore command", 0, 0)
		err := shell.Run(stop, r.Command, r.Output, r.Output)
		end()
		if err != nil {
			return fmt.Errorf("run restore command: %w", err)
		}
		return nil
	}
	say := func(line string) { fmt.Fprintln(r.Output, line) }
	for _, target := range targets {
		var err error
		switch r.Way {
		case RestoreReset:
			err = ResetDatabase(stop, target, r.Workloads, r.DiscardLog, r.Progress)
		case RestoreSnapshot:
			err = Snapshot(ctx, target, SnapshotRestore, r.Progress, say)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// LogKeeper is an engine of servers that keep all of their log until it is backed up.
type LogKeeper interface {
	// LogSpace is the size of the log and how much of it is in use. kept says that only a backup of
	// the log frees that.
	LogSpace(ctx context.Context) (size, used int64, kept bool, err error)

	// DiscardLog backs the log up to nowhere, which frees its room and ends the chain of its
	// backups: the database can be restored to no time after the last full backup, until the next
	// one.
	DiscardLog(ctx context.Context) error
}

// ResetDatabase takes a database back to the state after the load. Where the server keeps its log
// and half of it or more is in use, the next run would have to grow it and stop for that: it is
// refused unless the log is to be discarded.
func ResetDatabase(
	ctx context.Context,
	s store.Database,
	w workload.Workloads,
	discardLog bool,
	show progress.View,
) error {
	if keeper, ok := s.(LogKeeper); ok {
		if discardLog {
			if err := keeper.DiscardLog(ctx); err != nil {
				return err
			}
		}
		size, used, kept, err := keeper.LogSpace(ctx)
		if err != nil {
			return err
		}
		if kept && used > size/2 {
			return store.Refuse("reset "+s.Label(),
				"back the log up, or add --discard-log to back it up to NUL",
				"more than half of its log, %d MB of %d MB, is in use, and only a backup of the log frees it",
				used/1e6, size/1e6)
		}
	}
	tell, stop := show("reset", progress.Work)
	defer stop()
	return load.Reset(ctx, s, w, tell)
}
