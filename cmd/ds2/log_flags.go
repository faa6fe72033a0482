package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/pflag"

	"ds2/internal/load"
	"ds2/internal/store"
)

// logFlags say what becomes of a log that the server keeps until it is backed up.
type logFlags struct{ discard bool }

func (f *logFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.discard, "discard-log", false, "SQL Server under full recovery: before a reset back the log up to NUL, which frees its room and ends the chain of log backups")
}

// reset takes a database back to the state after the load. Where the server keeps its log and half of it or more is in use,
// the next run would have to grow it and stop for that: it is refused unless the log is to be discarded.
func (f *logFlags) reset(ctx context.Context, s store.Store, stderr io.Writer) error {
	if keeper, ok := s.(store.LogKeeper); ok {
		if f.discard {
			if err := keeper.DiscardLog(ctx); err != nil {
				return err
			}
		}
		size, used, kept, err := keeper.LogSpace(ctx)
		if err != nil {
			return err
		}
		if kept && used > size/2 {
			return &store.Error{Op: "reset " + s.Label(), Class: store.Config,
				Err:  errors.New("more than half of its log, " + bytesText(used) + " of " + bytesText(size) + ", is in use, and only a backup of the log frees it"),
				Hint: "back the log up, or add --discard-log to back it up to NUL"}
		}
	}
	view := startSteps(stderr, "reset")
	defer view.stop()
	return load.Reset(ctx, s, view.tell)
}
