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
	flags.Var(oneOf(&f.way, upkeep.RestoreReset, upkeep.RestoreSnapshot, upkeep.RestoreNone), "restore", "before each run: reset, which removes what runs added; snapshot, which puts the copy that ds2 snapshot create made in place; or none")
	flags.StringVar(&f.command, "restore-command", "", "command, run by sh, on Windows by cmd, that restores the database in another way and returns when the server takes connections")
	addClone(flags, &f.clone)
	addDiscardLog(flags, &f.discardLog)
}

// addClone adds the flag that has files share their blocks.
func addClone(flags *pflag.FlagSet, clone *bool) {
	flags.BoolVar(clone, "clone", false, "have database and copy share the blocks of their files, on PostgreSQL 18 and a file system that can, such as XFS: faster, but what a run overwrites then goes elsewhere on the drive, which its figures hold")
}

// addDiscardLog adds the flag that says what becomes of a log that the server keeps until it is backed up.
func addDiscardLog(flags *pflag.FlagSet, discard *bool) {
	flags.BoolVar(discard, "discard-log", false, "SQL Server under full recovery: before a reset back the log up to NUL, which frees its room and ends the chain of log backups")
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
