package main

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	"ds2/internal/experiment"
	"ds2/internal/store"
)

// logFlags say what becomes of a log that the server keeps until it is backed up.
type logFlags struct{ discard bool }

func (f *logFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.discard, "discard-log", false, "SQL Server under full recovery: before a reset back the log up to NUL, which frees its room and ends the chain of log backups")
}

func (f *logFlags) reset(ctx context.Context, s store.Store, stderr io.Writer) error {
	return experiment.Reset(ctx, s, workloads(), f.discard, showProgress(false, stderr))
}
