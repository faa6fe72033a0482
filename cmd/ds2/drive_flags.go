package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"ds2/datagen"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/outside"
	"ds2/internal/preflight"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/mailbox"
)

// runFlags are those of a run: what is driven, by DS2's parameters, WORKLOAD.md section 5, and the
// kit's own, what is observed beside it, and how it is shown.
type runFlags struct {
	// what makes a run another one, as its record has it
	result.Spec
	targetFlags
	size, words string
	flags       *pflag.FlagSet // that they were declared in
	workload    ds2.Config
	expected    *datagen.Size // from size; nil: that of the database
	startAt     string
	events      []string
	disclosure  []string
	out         string
	profile     string // of times
	mailbox     mailbox.Request
	perfHosts   []string // of DVD Store's driver, as name=value
	observe     observeFlags
	output      driveOutput

	windows []measure.WindowSpec // from WindowTexts
	limits  []limit.Limit        // from LimitTexts
}

// add declares the flags with DS2's defaults.
func (f *runFlags) add(flags *pflag.FlagSet) {
	declare(flags, "run", fields{"threads": &f.Threads})
	f.addShared(flags)
	declare(flags, "run", fields{
		"rate":            orderRate(&f.Rate),
		"spacing":         &f.Spacing,
		"start-at":        &f.startAt,
		"user-offset":     &f.UserOffset,
		"event":           &f.events,
		fileFlag:          new(string),
		configurationFlag: new(string),
		"disclosure":      &f.disclosure,
		"journal":         &f.Journal,
	})
}

// addShared declares the flags that runs have in a search for the best number of users too. Bare
// numbers of DS2's own parameters have its units: minutes, and seconds of think time.
func (f *runFlags) addShared(flags *pflag.FlagSet) {
	f.flags = flags
	f.targetFlags.add(flags)
	w := &f.workload
	m := &f.mailbox
	declare(flags, "run", fields{
		"size":              &f.size,
		"words":             &f.words,
		"ramp-rate":         &f.RampRate,
		"warmup-time":       ds2Duration(&f.WarmupTime.Duration, time.Minute),
		"run-time":          ds2Duration(&f.RunTime.Duration, time.Minute),
		"think-time":        ds2Duration(&f.ThinkTime.Duration, time.Second),
		"profile":           &f.profile,
		"scrub-rate":        byteRate(&f.ScrubRate),
		"seed":              &f.Seed,
		"warm-within":       &f.WarmWithin,
		"window":            &f.WindowTexts,
		"cold-start":        &f.ColdStart,
		"checkpoint-first":  &f.CheckpointFirst,
		"max-retries":       &f.MaxRetries,
		"max-errors":        &f.MaxErrors,
		"operation-timeout": &f.OperationTimeout,
		"drain-time":        &f.DrainTime,
		"limit":             &f.LimitTexts,
		"abort-on-fail":     &f.AbortAfter,
		"run-id":            &f.RunID,
		"out":               &f.out,
		"pct-newcustomers":  &w.PctNewCustomers,
		"n-searches":        &w.Searches,
		"search-batch-size": &w.SearchBatchSize,
		"n-line-items":      &w.LineItems,
		"mailbox-profile":   &m.Profile,
		"mix":               parsed[mailbox.Mix]{&m.Mix, "percentages", readMix, mixText, ""},
		"lazy":              &m.Lazy,
		"iops-per-mailbox":  &m.PerMailbox,
		"headroom":          &m.Headroom,
		configFileFlag:      parsed[string]{new(string), "file", f.readConfigFile, same, ""},
		"detailed-view":     yes(&f.output.detailed),
	})
	f.addCompatibility(flags)
}

// addBeside declares what is observed beside users, where figures go while they work, and what is
// checked when they have ended.
func (f *runFlags) addBeside(flags *pflag.FlagSet) {
	f.observe.add(flags)
	f.output.metricsFlags.add(flags)
	declare(flags, "run", fields{"verify": &f.Verify})
}

// options opens the targets, looks at what they hold, and puts the run together, without a plan
// where a check finds none. The caller closes the targets, also where there is an error.
func (f *runFlags) options(ctx context.Context, l *checklist) (o runs.Options, err error) {
	if o, err = f.judge(); err != nil {
		return o, err
	}
	stores, err := f.open()
	if err != nil {
		return o, err
	}
	o.Databases = stores
	o.Spec.Targets = mapped(stores, store.Database.Label)
	// Another session may have locked the catalog, as a change of the schema does: these questions
	// would wait for it in silence.
	stop := watchWaits(stores, func() bool { return false }, l.w)
	plan, err := f.plan(ctx, stores)
	stop()
	if err != nil {
		return o, l.step(preflight.NotAsNeeded, "", err)
	}
	if err := distinctTargets(ctx, stores); err != nil {
		return o, l.step(preflight.NotAsNeeded, "", err)
	}
	l.holds(stores, plan)
	if l.fits != nil {
		if err := l.fits(plan.Workload()); err != nil {
			return o, err
		}
	}
	warming, warms := plan.(workload.Warming)
	if warms &&
		!f.flags.Changed("window") { // those of DVD Store 2's reports are not of this workload
		o.WindowTexts = nil
		f.windows = nil
	}
	o.WarmWithin.Duration = f.warm(warming)
	if err := f.fitLimits(plan.Workload()); err != nil {
		return o, err
	}
	// The workload's own target, such as IOPS per mailbox, is a limit too: a run that misses it
	// fails.
	o.LimitTexts = append(o.LimitTexts, runs.TargetLimits(plan)...)
	o.Plan = plan
	o.Proof = proofs[stores[0].Engine()]
	return o, f.asked(ctx, l, o)
}

// readWords reads a file of word lists; none is the kit's own.
func readWords(path string) (*datagen.Words, error) {
	if path == "" {
		return datagen.DefaultWords(), nil
	}
	text, err := outside.ReadFile(context.Background(), path, outside.MaxText)
	if err != nil {
		return nil, flagError("words", err)
	}
	words, err := datagen.ReadWords(bytes.NewReader(text))
	if err != nil {
		return nil, flagError("words", fmt.Errorf("%s: %w", path, err))
	}
	return words, nil
}

// newRunID draws six characters that are easy to read and to say.
func newRunID() string {
	return strings.ToLower(rand.Text()[:6])
}

// warm is how long a run waits for a store that is warm, where its plan asks for it or a flag does.
// Who gives less than a minute for the warm-up tries something out, and windows since the first
// orders do not move with the run.
func (f *runFlags) warm(plan workload.Warming) time.Duration {
	fixed := slices.ContainsFunc(f.windows, func(w measure.WindowSpec) bool {
		return w.Known() && !w.OfRun
	})
	switch {
	case f.flags.Changed("warm-within"):
		return f.WarmWithin.Duration
	case plan == nil || fixed || f.WarmupTime.Duration < time.Minute:
		return 0
	}
	return plan.WarmWithin()
}
