package main

import (
	"io"

	"github.com/spf13/pflag"

	"ds2/internal/upkeep"
	"ds2/internal/workload"
)

// restoreFlags say how the databases are restored before each of several runs.
type restoreFlags struct {
	way, command string
	clone        bool
	discardLog   bool
}

func (f *restoreFlags) add(flags *pflag.FlagSet) {
	flags.Var(oneOf(&f.way, upkeep.RestoreReset, upkeep.RestoreSnapshot, upkeep.RestoreNone), "restore", "before each run: remove what runs added (reset), restore the copy of ds2 snapshot create (snapshot), or none")
	flags.StringVar(&f.command, "restore-command", "", "command that restores the database in another way, and returns when the server accepts connections")
	addClone(flags, &f.clone)
	addDiscardLog(flags, &f.discardLog)
}

// addClone adds the flag that has files share their blocks.
func addClone(flags *pflag.FlagSet, clone *bool) {
	flags.BoolVar(clone, "clone", false, "PostgreSQL 18, file systems such as XFS: database and copy share blocks, which is faster, but what a run overwrites then goes elsewhere on the drive, and its figures include that")
}

// addDiscardLog adds the flag that says what becomes of a log that the server keeps until it is backed up.
func addDiscardLog(flags *pflag.FlagSet, discard *bool) {
	flags.BoolVar(discard, "discard-log", false, "SQL Server: before a reset back up the log to NUL, which frees its space and ends the chain of log backups")
}

// check refuses a way that databases of a workload cannot go.
func (f *restoreFlags) check(w workload.Workload) error {
	if f.clone && (f.way != upkeep.RestoreSnapshot || f.command != "") {
		return usageError("--clone: only --restore snapshot copies a database")
	}
	if _, ok := w.(workload.Resetter); !ok && f.way == upkeep.RestoreReset && f.command == "" {
		return usageError("--restore is reset, and databases of workload %s cannot be reset: use --restore snapshot, after ds2 snapshot create", w.Name())
	}
	return nil
}

// restore is how the databases are restored.
func (f *restoreFlags) restore(stderr io.Writer) upkeep.Restore {
	return upkeep.Restore{
		Way: f.way, Command: f.command, Clone: f.clone, DiscardLog: f.discardLog, Workloads: workloads(), Output: stderr, Progress: showProgress(false, stderr),
	}
}
