package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/docker/go-units"
	"github.com/spf13/pflag"

	"ds2/internal/driver"
	"ds2/internal/runs"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/store/sqlserver"
	"ds2/internal/workload"
	"ds2/internal/workload/mailbox"
	mailboxpostgres "ds2/internal/workload/mailbox/postgres"
	mailboxsqlserver "ds2/internal/workload/mailbox/sqlserver"
)

// mailboxEngines are the engines that the mailbox workload has calls on.
var mailboxEngines = map[string]mailbox.Engine{
	postgres.Engine:  mailboxpostgres.Engine{},
	sqlserver.Engine: mailboxsqlserver.Engine{},
}

// mailboxSize is a flag for the size of a mailbox, in MB of 1024 × 1024 bytes, as Jetstress counts them.
type mailboxSize int64

func (m *mailboxSize) Type() string { return "bytes" }

func (m *mailboxSize) String() string {
	if *m == 0 {
		return ""
	}
	return fmt.Sprintf("%dMB", *m>>20)
}

func (m *mailboxSize) Set(text string) error {
	n, err := units.RAMInBytes(text)
	if err != nil || n < 1<<20 || n > 1<<40 {
		return fmt.Errorf("%q is not a size of a mailbox from 1MB to 1TB, such as 250MB", text)
	}
	*m = mailboxSize(n)
	return nil
}

// mixValue is a flag for the shares of inserts, deletes, replaces and reads, as 40/30/5/25.
type mixValue struct{ mix *mailbox.Mix }

func (v mixValue) Type() string { return "percentages" }

func (v mixValue) String() string {
	if v.mix == nil || *v.mix == (mailbox.Mix{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d/%d/%d", v.mix.Insert, v.mix.Delete, v.mix.Replace, v.mix.Read)
}

func (v mixValue) Set(text string) error {
	parts := strings.Split(text, "/")
	if len(parts) != 4 {
		return fmt.Errorf("%q is not four percentages of inserts, deletes, replaces and reads, such as 40/30/5/25", text)
	}
	var m mailbox.Mix
	for i, share := range []*int{&m.Insert, &m.Delete, &m.Replace, &m.Read} {
		var err error
		if *share, err = strconv.Atoi(strings.TrimSpace(parts[i])); err != nil {
			return fmt.Errorf("%q is not a percentage", parts[i])
		}
	}
	*v.mix = m
	return m.Check()
}

// mailboxLoadFlags are the flags of a load of mailboxes.
type mailboxLoadFlags struct {
	mailboxes int
	size      mailboxSize
	profile   string
}

func (f *mailboxLoadFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.mailboxes, "mailboxes", 0, "workload mailbox: number of mailboxes in each target")
	flags.Var(&f.size, "mailbox-size", "workload mailbox: size of each, in units of 1024, such as 250MB")
	flags.Var(oneOf(&f.profile, mailbox.ProfileNames()...), "mailbox-profile", "workload mailbox: mix of operations that runs are to have")
}

// mailboxes are the mailboxes to be loaded into each target.
func (f *loadFlags) mailboxes() (workload.Dataset, error) {
	m := f.mailbox
	switch {
	case m.mailboxes == 0:
		return nil, usageError("--mailboxes is missing, such as --mailboxes 500")
	case m.size == 0:
		return nil, usageError("--mailbox-size is missing, such as --mailbox-size 250MB")
	}
	d := mailbox.Dataset{Size: mailbox.Size{Mailboxes: m.mailboxes, MailboxBytes: int64(m.size)}, Seed: f.dataSeed, Profile: m.profile, Engines: mailboxEngines}
	if err := d.Size.Check(); err != nil {
		return nil, flagError("mailboxes", err)
	}
	return d, nil
}

// mailboxRunFlags are the flags of runs on mailbox databases.
type mailboxRunFlags struct {
	profile    string
	mix        mailbox.Mix
	lazy       int // negative: that of the profile
	parameters mailbox.Parameters
	perMailbox float64
	headroom   float64 // percent
	closed     bool    // users work as fast as they can, also where there is a target
}

func (f *mailboxRunFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.profile, "mailbox-profile", "", "workload mailbox: mix of operations, "+strings.Join(mailbox.ProfileNames(), ", ")+" (default: the one that the database was loaded for)")
	flags.Var(mixValue{&f.mix}, "mix", "workload mailbox: percentages of inserts/deletes/replaces/reads, such as 40/30/5/25 (default: the profile's)")
	flags.IntVar(&f.lazy, "lazy", -1, "workload mailbox: percentage of transactions whose commit does not wait for the log")
	flags.Lookup("lazy").DefValue = "the profile's"
	flags.IntVar(&f.parameters.Batch, "batch", 1, "workload mailbox: operations in a transaction")
	flags.Float64Var(&f.perMailbox, "iops-per-mailbox", 0, "workload mailbox: IOPS of the drives that each mailbox takes, such as 0.5: a run offers as many operations as make them, a search takes the fewest users that do")
	flags.Float64Var(&f.headroom, "headroom", 0, "workload mailbox: percent by which the target is higher")
}

// judgeMailboxes refuses flags that make no run, before anything is connected to.
func (f *driveFlags) judgeMailboxes() error {
	m := &f.mailbox
	if m.profile != "" {
		if _, err := mailbox.FindProfile(m.profile); err != nil {
			return flagError("mailbox-profile", err)
		}
	}
	if m.lazy < -1 || m.lazy > 100 {
		return usageError("--lazy is %d: it must be 0 to 100 percent", m.lazy)
	}
	if m.parameters.Batch < 1 || m.parameters.Batch > mailbox.MaxBatch {
		return usageError("--batch is %d: it must be 1 to %d operations", m.parameters.Batch, mailbox.MaxBatch)
	}
	if !(m.perMailbox >= 0) || m.perMailbox > 1e6 {
		return usageError("--iops-per-mailbox is %g: it must be 0 to 1000000", m.perMailbox)
	}
	if !(m.headroom >= 0) || m.headroom > 1000 || m.headroom > 0 && m.perMailbox == 0 {
		return usageError("--headroom is %g: it must be 0 to 1000 percent, and needs --iops-per-mailbox", m.headroom)
	}
	if m.perMailbox > 0 && f.rate > 0 {
		return usageError("--iops-per-mailbox and --rate exclude each other: the one sets the other")
	}
	if m.perMailbox > 0 && !m.closed && f.config.Warmup < minPacedWarmup {
		return usageError("--warmup-time is %s: with --iops-per-mailbox it must be at least %s, in which the rate is found", f.config.Warmup, minPacedWarmup)
	}
	return nil
}

// minPacedWarmup is what it takes at least to find a rate.
const minPacedWarmup = 20 * time.Second

// of are the parameters of runs on databases that were loaded for a profile.
func (f mailboxRunFlags) of(loaded string) (mailbox.Parameters, error) {
	profile, err := mailbox.FindProfile(cmp.Or(f.profile, loaded))
	if err != nil {
		return mailbox.Parameters{}, err
	}
	p := f.parameters
	p.Profile, p.Mix = profile.Name, profile.Mix
	if f.mix != (mailbox.Mix{}) {
		p.Mix = f.mix
		p.Mix.Lazy = profile.Mix.Lazy
	}
	if f.lazy >= 0 {
		p.Mix.Lazy = f.lazy
	}
	return p, p.Check()
}

// planMailboxes has users work on mailbox databases.
func (f *driveFlags) planMailboxes(ctx context.Context, targets []store.Database, infos []store.Info) (workload.Plan, error) {
	if f.config.UserOffset > 0 {
		return nil, usageError("--user-offset: a mailbox database is driven from one machine, which knows all of its records")
	}
	if f.crash.journal {
		return nil, usageError("--journal: a mailbox database is driven from one machine, whose --crash-after or --crash-cycles keeps the journal")
	}
	plan := &mailbox.Plan{}
	for i, s := range targets {
		engine, ok := mailboxEngines[s.Engine()]
		if !ok {
			return nil, usageError("--target: workload %s does not run on %s", mailbox.Name, s.Engine())
		}
		target, err := mailbox.Look(s, engine, infos[i])
		if err != nil {
			return nil, err
		}
		plan.Targets = append(plan.Targets, target)
		if d, first := target.Dataset, plan.Targets[0].Dataset; d.Size != first.Size || d.Profile != first.Profile {
			return nil, usageError("--target: %s holds %s for %s and %s %s for %s: targets driven together must be alike",
				targets[0].Label(), first, first.Profile, s.Label(), d, d.Profile)
		}
	}
	var err error
	if plan.Parameters, err = f.mailbox.of(plan.Targets[0].Dataset.Profile); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	for _, t := range plan.Targets {
		if err := t.Engine.Check(ctx, t.Store, plan.Parameters); err != nil {
			if _, asking := errors.AsType[*store.Error](err); asking {
				return nil, err
			}
			return nil, &exitError{exitUsage, err}
		}
	}
	f.warms = true
	plan.PerMailbox, plan.Headroom, plan.Closed = f.mailbox.perMailbox, f.mailbox.headroom, f.mailbox.closed
	f.leastIOPS = plan.Target()
	if !plan.Closed {
		if err := f.paceable(plan.Target()); err != nil {
			return nil, err
		}
		f.leastIOPS *= 1 - driver.Tolerance
	}
	return plan, nil
}

// paceable refuses a target so low that a sample counts too few I/Os to tell whether the rate makes it: of fewer than
// 1 / driver.Tolerance, one more or less is more than the tolerance.
func (f *driveFlags) paceable(target float64) error {
	const least = 1 / driver.Tolerance
	sample := runs.PaceSample(f.config.Warmup)
	if counts := target * sample.Seconds(); target > 0 && counts < least {
		return usageError("--iops-per-mailbox: all mailboxes together take %.3g IOPS, of which a sample of %s counts %.3g: to be within %g %% it takes %g; take more mailboxes, more IOPS of each, or a longer --warmup-time, whose tenth a sample is, up to %s",
			target, sample, counts, 100*driver.Tolerance, least, runs.MaxPaceSample)
	}
	return nil
}
