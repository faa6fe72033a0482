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
	flags.Var(byteRate(&f.scrub), "scrub-rate", "scan each target again and again during the run at this rate, such as 1MB/s, in requests of 256 KiB (on PostgreSQL past the server's cache); IOPS exclude these reads")
	flags.IntVar(&f.copies, "copies", 0, "readers that receive each target's log as replicas would, and discard it; on SQL Server log backups to NUL, which break the chain of log backups")
}

// debtFlag is --debt.
func debtFlag(flags *pflag.FlagSet, debt *bool) {
	flags.BoolVar(debt, "debt", false, "after the run, have the server do its deferred work (checkpoint, vacuum or ghost cleanup), and measure time, reads and writes")
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
