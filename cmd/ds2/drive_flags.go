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
	flags.IntVar(&f.Threads, "threads", 1, "users per target; also --n-threads")
	under(flags, ofLoadShape, "threads")
	f.addShared(flags)
	flags.Var(orderRate(&f.Rate), "rate",
		"open loop: rate at which orders become due, over all targets, such as 500/s")
	flags.Var(oneOf(&f.Spacing, result.Poisson, result.Even), "spacing",
		"open loop: intervals between orders")
	flags.StringVar(
		&f.startAt,
		"start-at",
		"",
		"when the first orders start, such as 2026-11-21T04:15:00Z, "+
			"for several driver machines",
	)
	flags.IntVar(&f.UserOffset, "user-offset", 0, "number of the first user, so that driver "+
		"machines draw different orders")
	flags.StringArrayVar(
		&f.events,
		"event",
		nil,
		"command to run at a time of the run phase, after the warm-up, such as "+
			"5m='dmsetup suspend data'; may be repeated. The report says what each cost",
	)
	flags.String(fileFlag, "",
		"experiment file, such as arrays.yaml, with the values of all flags that are not given")
	flags.String(configurationFlag, "", "with --file, the configuration to run, if it has several")
	under(flags, ofLoadShape)
	flags.StringArrayVar(
		&f.disclosure,
		"disclosure",
		nil,
		"for the report, what was tested: array=, firmware=, "+
			"raid=, cache=, compression=, file-system= or price=, such as 'price=12000 USD'; may be repeated",
	)
	under(flags, ofObserving)
	flags.BoolVar(
		&f.Journal,
		"journal",
		false,
		"note in the record what the server acknowledges, on this machine; "+
			"after an outage ds2 verify --record names what is lost",
	)
	under(flags, ofOutput)
}

// addShared declares the flags that runs have in a search for the best number of users too.
func (f *runFlags) addShared(flags *pflag.FlagSet) {
	f.flags = flags
	f.WarmupTime.Duration = time.Minute
	f.DrainTime.Duration = 30 * time.Second
	f.OperationTimeout.Duration = time.Minute
	f.targetFlags.add(flags)
	flags.StringVar(
		&f.size,
		"size",
		"",
		"expected size of the database, such as S or 80GB (default: the size it "+
			"has); also --db-size, --db-size-str",
	)
	complete(flags, "size", "S", "M", "W", "L")
	flags.StringVar(&f.words, "words", "",
		"file of the word lists that the database was loaded with")
	under(flags, ofDataset, "size")

	flags.Float64Var(&f.RampRate, "ramp-rate", 10, "users that start per second")
	flags.Var(ds2Duration(&f.WarmupTime.Duration, time.Minute), "warmup-time",
		"warm-up before the run: minutes, or a duration such as 90s")
	flags.Var(ds2Duration(&f.RunTime.Duration, time.Minute), "run-time",
		"run phase, after the warm-up: minutes, or a duration such as 90s")
	flags.Var(ds2Duration(&f.ThinkTime.Duration, time.Second), "think-time",
		"mean pause after an order: seconds, or a duration such as 500ms")
	profileFlag(flags, &f.profile)
	flags.Var(
		byteRate(&f.ScrubRate),
		"scrub-rate",
		"scan each target repeatedly during the run at this rate, "+
			"such as 1MB/s, in requests of 256 KiB (on PostgreSQL past the server's cache); IOPS exclude these reads",
	)
	flags.Uint64Var(&f.Seed, "seed", 0, "random seed; 0 picks one and records it")
	under(flags, ofLoadShape, "warmup-time", "run-time")

	flags.Var(
		duration(&f.WarmWithin.Duration),
		"warm-within",
		"longest wait after the warm-up until the store is "+
			"warm: server buffers full, a checkpoint made, and rate, reads per order and read latency flat; "+
			"0 = do not wait (default 0; mailbox 10m, unless --warmup-time is below a minute or --window in "+
			"seconds since the first orders)",
	)
	flags.Lookup("warm-within").DefValue = ""
	flags.StringArrayVar(
		&f.WindowTexts,
		"window",
		nil,
		"window of the run phase that figures are computed over: run+1000s-1200s since it began, "+
			"1000s-1200s since the first orders, auto, checkpoints=2 (the last two checkpoint cycles), or NAME=WINDOW, such as steady=auto; "+
			"may be repeated, the first counts",
	)
	flags.Lookup("window").DefValue = "whole checkpoint cycles, else the run phase"
	complete(flags, "window", "auto", "checkpoints=2")
	flags.BoolVar(
		&f.ColdStart,
		"cold-start",
		false,
		"SQL Server: before the users start, make a checkpoint and empty "+
			"the whole server's cache (DBCC DROPCLEANBUFFERS)",
	)
	flags.BoolVar(
		&f.CheckpointFirst,
		"checkpoint-first",
		false,
		"make a checkpoint before the users start, so that "+
			"no earlier changes are left to write",
	)
	flags.IntVar(&f.MaxRetries, "max-retries", 20, "retries of an operation before its order fails")
	flags.IntVar(&f.MaxErrors, "max-errors", 100, "abort the run after this many failed orders")
	flags.Var(duration(&f.OperationTimeout.Duration), "operation-timeout", "time after which an "+
		"operation's connection counts as lost")
	flags.Var(duration(&f.DrainTime.Duration), "drain-time",
		"grace period for orders in flight at the end of the run")
	under(flags, ofMeasuring, "window")

	flags.StringArrayVar(
		&f.LimitTexts,
		"limit",
		nil,
		"limit over the first window, such as 'order p95 < 500ms', "+
			"'errors < 0.1%', 'data read mean < 20ms' or 'opm > 60000', or a set of Jetstress's: exchange2007, "+
			"exchange2013, either with -stress; may be repeated",
	)
	complete(flags, "limit", limit.Presets()...)
	flags.Var(
		duration(&f.AbortAfter.Duration),
		"abort-on-fail",
		"end the run when a limit has failed for this long, "+
			"such as 30s; judged at this interval, so it can take twice as long",
	)
	under(flags, ofLimits, "limit")

	flags.StringVar(&f.RunID, "run-id", "", "name of the run in record and metrics; "+
		"give several driver machines the same (default: random)")
	flags.StringVar(&f.out, "out", "",
		"directory for the record, new or empty (default ds2-results/<start>-<run id>)")
	under(flags, ofOutput, "out")

	w := &f.workload
	flags.IntVar(&w.PctNewCustomers, "pct-newcustomers", 20,
		"percentage of orders by new customers")
	flags.IntVar(&w.Searches, "n-searches", 3, "average number of browses per order")
	flags.IntVar(&w.SearchBatchSize, "search-batch-size", 5,
		"average number of products a browse asks for")
	flags.IntVar(&w.LineItems, "n-line-items", 5, "average number of items per cart")
	under(flags, ofDVDStore)
	addMailboxFlags(flags, &f.mailbox)
	flags.Var(parsed[string]{new(string), "file", f.readConfigFile, same, ""}, configFileFlag,
		"file of lines parameter=value; if a parameter is given twice, the later wins")
	f.addCompatibility(flags)
}

// options opens the targets, looks at what they hold, and puts the run together, without a plan
// where a check finds none. The caller closes the targets, also where there is an error.
func (f *runFlags) options(ctx context.Context, l *looks) (o runs.Options, err error) {
	if o, err = f.judge(); err != nil {
		return o, err
	}
	stores, err := f.open()
	if err != nil {
		return o, err
	}
	o.Databases = stores
	o.Spec.Targets = mapped(stores, store.Database.Label)
	tell := func(text string) { say(l.w, note, ": %s", text) }
	stop := watchWaits(stores, func() bool { return false }, tell)
	plan, err := f.plan(ctx, stores)
	stop()
	if err != nil {
		return o, l.step("database", "", err)
	}
	if err := distinctTargets(ctx, stores); err != nil {
		return o, l.step("database", "", err)
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
