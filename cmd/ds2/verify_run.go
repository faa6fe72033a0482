package main

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/upkeep"
)

// How a database is looked at after a run.
const (
	verifyNone  = "none"
	verifyAudit = "audit"
	verifyDeep  = "deep"
)

// verifyFlag is --verify.
type verifyFlag string

func (f *verifyFlag) add(flags *pflag.FlagSet) {
	flags.Var(oneOf((*string)(f), verifyAudit, verifyDeep, verifyNone), "verify",
		"check after the run: audit, that the database holds what the run recorded; deep, which first reads every page and has the server check it; or none")
}

// deepCheck reads every page of some databases.
func deepCheck(ctx context.Context, stores []store.Database, how store.DeepReading, quiet bool, stderr io.Writer) ([]store.DeepCheck, error) {
	tell, stop := showProgress(quiet, stderr)("verify", progress.Work)
	defer stop()
	return upkeep.DeepCheck(ctx, stores, how, tell)
}
