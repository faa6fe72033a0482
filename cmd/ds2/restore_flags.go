package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"ds2/internal/shell"
	"ds2/internal/store"
)

// How the databases are taken back to where every run starts.
const (
	restoreReset    = "reset"
	restoreSnapshot = "snapshot"
	restoreNone     = "none"
)

// restoreFlags say how the databases are restored before each of several runs.
type restoreFlags struct {
	way, command string
	log          logFlags
}

func (f *restoreFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.way, "restore", restoreReset, "before each run: reset, which removes what runs added; snapshot, which puts the copy that ds2 snapshot create made in place; or none")
	flags.StringVar(&f.command, "restore-command", "", "command, run by sh, that restores the database in another way and returns when the server takes connections")
	f.log.add(flags)
}

func (f *restoreFlags) check() error {
	if f.way != restoreReset && f.way != restoreSnapshot && f.way != restoreNone {
		return usageError("--restore: %q is neither reset, snapshot nor none", f.way)
	}
	return nil
}

// name is the way as a record tells it.
func (f *restoreFlags) name() string {
	if f.command != "" {
		return "command"
	}
	return f.way
}

// restorer is how the databases are restored; nil where they are not.
func (f *restoreFlags) restorer(targets []store.Store, stderr io.Writer) func(context.Context) error {
	if f.command != "" {
		return func(ctx context.Context) error {
			if err := shell.Run(ctx, f.command, stderr, stderr); err != nil {
				return fmt.Errorf("run restore command: %w", err)
			}
			return nil
		}
	}
	one := map[string]func(context.Context, store.Store, io.Writer) error{restoreReset: f.log.reset, restoreSnapshot: restoreFromSnapshot}[f.way]
	if one == nil {
		return nil
	}
	return func(ctx context.Context) error {
		for _, t := range targets {
			if err := one(ctx, t, stderr); err != nil {
				return err
			}
		}
		return nil
	}
}
