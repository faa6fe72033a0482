package main

import (
	"slices"
	"time"

	"github.com/spf13/pflag"

	"ds2/internal/limit"
)

// limitFlags are the limits that runs are judged by.
type limitFlags struct{ texts, sets []string }

func (f *limitFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.texts, "limit", nil, "limit over the first window, such as 'order p95 < 500ms', 'errors < 0.1%', 'data read mean < 20ms', 'log write max < 50ms', 'iops > 250' or 'opm > 60000'; may be repeated")
	flags.StringArrayVar(&f.sets, "limits", nil, "set of limits: data read mean < 20ms, log write mean < 10ms, and maxima over 15 s of 50ms (exchange2007 or jetstress), 100ms (exchange2007-stress, exchange2013) or 200ms (exchange2013-stress); runs over 6 hours use the stress set, unless named with -strict; may be repeated")
}

// parse reads the flags for runs of a length: the sets first, then the limits given one by one.
func (f *limitFlags) parse(run time.Duration) ([]limit.Limit, error) {
	var limits []limit.Limit
	for _, name := range f.sets {
		set, err := limit.Preset(limit.OfLength(name, run))
		if err != nil {
			return nil, flagError("limits", err)
		}
		limits = append(limits, set...)
	}
	more, err := limit.ParseAll(f.texts, limitOperations()...)
	if err != nil {
		return nil, flagError("limit", err)
	}
	return slices.Concat(limits, more), nil
}

// abortFlag is --abort-on-fail.
func abortFlag(flags *pflag.FlagSet, after *time.Duration) {
	flags.Var(durationValue{d: after}, "abort-on-fail", "end the run when a limit has failed for this long, such as 30s; judged at this interval, so it can take twice as long")
}
