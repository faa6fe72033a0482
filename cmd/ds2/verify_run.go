package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/pflag"

	"ds2/internal/experiment"
	"ds2/internal/store"
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
	*f = verifyAudit
	flags.Var(f, "verify", "what is done after the run: none; audit, whether the database holds what the run did; or deep, which first reads every page and has the server check it")
	flags.BoolFunc("audit", "--audit=false is --verify none", func(text string) error {
		audit, err := strconv.ParseBool(text)
		switch {
		case err != nil:
			return fmt.Errorf("%q is neither true nor false", text)
		case !audit:
			*f = verifyNone
		case *f == verifyNone:
			*f = verifyAudit
		}
		return nil
	})
}

func (f *verifyFlag) String() string { return string(*f) }
func (f *verifyFlag) Type() string   { return "none|audit|deep" }

func (f *verifyFlag) Set(text string) error {
	switch text {
	case verifyNone, verifyAudit, verifyDeep:
		*f = verifyFlag(text)
		return nil
	}
	return fmt.Errorf("%q is neither none, audit nor deep", text)
}

// scrub reads every page of some databases.
func scrub(ctx context.Context, stores []store.Store, quiet bool, stderr io.Writer) ([]store.Scrub, error) {
	view := newBytesView(quiet, stderr)
	defer view.stop()
	return experiment.Scrub(ctx, stores, func(p store.ScrubProgress) { view.tell(p.Doing+" every page", p.Done, p.Total) })
}
