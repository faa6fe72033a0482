package main

import (
	"time"

	"github.com/spf13/pflag"

	"ds2/internal/limit"
)

// limitFlags are the limits that runs are judged by.
type limitFlags struct{ texts []string }

func (f *limitFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.texts, "limit", nil, "limit over the first window, such as 'order p95 < 500ms', 'errors < 0.1%', 'data read mean < 20ms' or "+
		"'opm > 60000', or a set of Jetstress's: exchange2007, exchange2013, either with -stress or -strict, jetstress; may be repeated")
}

// parse reads the flag for runs of a length.
func (f *limitFlags) parse(run time.Duration) ([]limit.Limit, error) {
	limits, err := limit.ForRun(f.texts, run, limitOperations()...)
	if err != nil {
		return nil, flagError("limit", err)
	}
	return limits, nil
}

// abortFlag is --abort-on-fail.
func abortFlag(flags *pflag.FlagSet, after *time.Duration) {
	flags.Var(durationValue{d: after}, "abort-on-fail", "end the run when a limit has failed for this long, such as 30s; judged at this interval, so it can take twice as long")
}
