package main

import (
	"io"

	"github.com/spf13/pflag"

	"ds2/internal/experiment"
)

// restoreFlags say how the databases are restored before each of several runs.
type restoreFlags struct {
	way, command string
	log          logFlags
}

func (f *restoreFlags) add(flags *pflag.FlagSet) {
	flags.Var(oneOf(&f.way, experiment.RestoreReset, experiment.RestoreSnapshot, experiment.RestoreNone), "restore", "before each run: reset, which removes what runs added; snapshot, which puts the copy that ds2 snapshot create made in place; or none")
	flags.StringVar(&f.command, "restore-command", "", "command, run by sh, on Windows by cmd, that restores the database in another way and returns when the server takes connections")
	f.log.add(flags)
}

func (f *restoreFlags) check() error {
	return nil
}

// restore is how the databases are restored.
func (f *restoreFlags) restore(stderr io.Writer) experiment.Restore {
	return experiment.Restore{
		Way: f.way, Command: f.command, DiscardLog: f.log.discard, Workloads: workloads(), Output: stderr, Steps: resetSteps(stderr), Copying: copyView(stderr),
	}
}
