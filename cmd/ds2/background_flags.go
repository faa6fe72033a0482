package main

import (
	"github.com/spf13/pflag"

	"ds2/internal/background"
)

// backgroundFlags say what is read beside the users of a run.
type backgroundFlags struct {
	scrub  float64 // bytes a second
	copies int
}

func (f *backgroundFlags) add(flags *pflag.FlagSet) {
	flags.Var(byteRate(&f.scrub), "scrub-rate", flagsTxt)
	flags.IntVar(&f.copies, "copies", 0, flagsTxt)
}

// maxCopies is more than any database has.
const maxCopies = 100

func (f *backgroundFlags) check() error {
	if f.copies < 0 || f.copies > maxCopies {
		return usageError("--copies is %d: it must be 0 to %d", f.copies, maxCopies)
	}
	return nil
}

func (f *backgroundFlags) config() background.Config {
	return background.Config{ScrubRate: f.scrub, Copies: f.copies}
}
