package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/docker/go-units"
	"github.com/spf13/pflag"

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

// mailboxSize is a flag for the size of a mailbox, in MB of 1024 × 1024 bytes, as Jetstress counts
// them.
func mailboxSize(value *int64) parsed[int64] {
	write := func(size int64) string { return fmt.Sprintf("%dMB", size>>20) }
	return parsed[int64]{value, "bytes", readMailboxSize, write, ""}
}

// readMailboxSize reads 1MB to 1TB, in units of 1024.
func readMailboxSize(text string) (int64, error) {
	n, err := units.RAMInBytes(text)
	if err != nil || n < 1<<20 || n > 1<<40 {
		return 0, fmt.Errorf("%q is not a size of a mailbox from 1MB to 1TB, such as 250MB", text)
	}
	return n, nil
}

// readMix reads the shares of inserts, deletes, replaces and reads, as 40/30/5/25.
func readMix(text string) (m mailbox.Mix, err error) {
	parts := strings.Split(text, "/")
	if len(parts) != 4 {
		return m, fmt.Errorf("%q is not four percentages of inserts, deletes, replaces and reads, such as 40/30/5/25",
			text)
	}
	// In Jetstress's order.
	for i, share := range []*int{&m.Insert, &m.Delete, &m.Replace, &m.Read} {
		if *share, err = strconv.Atoi(strings.TrimSpace(parts[i])); err != nil {
			return m, fmt.Errorf("%q is not a percentage", parts[i])
		}
	}
	return m, m.CheckShares()
}

func mixText(m mailbox.Mix) string {
	return fmt.Sprintf("%d/%d/%d/%d", m.Insert, m.Delete, m.Replace, m.Read)
}

// addMailboxes declares the flags of a dataset of mailboxes.
func addMailboxes(flags *pflag.FlagSet, d *mailbox.Dataset) {
	declare(flags, "mailboxes", fields{
		"mailboxes":       &d.Size.Mailboxes,
		"mailbox-size":    mailboxSize(&d.Size.MailboxBytes),
		"mailbox-profile": oneOf(&d.Profile, mailbox.ProfileNames()...),
	})
}

// mailboxes are the mailboxes to be loaded into each target.
func (f *loadFlags) mailboxes() (workload.Dataset, error) {
	d := f.mailbox
	d.Seed = f.dataSeed
	d.Engines = mailboxEngines
	switch {
	case d.Size.Mailboxes == 0:
		return nil, usageError("--mailboxes is missing, such as --mailboxes 500")
	case d.Size.MailboxBytes == 0:
		return nil, usageError("--mailbox-size is missing, such as --mailbox-size 250MB")
	}
	if err := d.Size.CheckSize(); err != nil {
		return nil, flagError("mailboxes", err)
	}
	return d, nil
}

// fitLine is what ds2 sizes says of a file system for mailboxes.
type fitLine struct {
	Capacity     int64 `json:"capacity_bytes"`
	Mailboxes    int   `json:"mailboxes"`
	MailboxBytes int64 `json:"mailbox_bytes"`
	Database     int64 `json:"database_bytes"`
	Growth       int64 `json:"growth_bytes"` // as much is for the log
}

// fitMailboxes plans a file system of capacity bytes: what the mailboxes leave is for growth and
// log in equal parts.
func fitMailboxes(capacity, mailboxBytes int64) fitLine {
	n := mailbox.FitMailboxes(capacity, mailboxBytes)
	bytes := mailbox.Size{Mailboxes: n, MailboxBytes: mailboxBytes}.TotalBytes()
	return fitLine{capacity, n, mailboxBytes, bytes, (capacity - bytes) / 2}
}

func (l fitLine) String() string {
	return fmt.Sprintf(
		"%s: %d mailboxes of %d MB, a database of %s, and %s each for growth and the log",
		bytesText(l.Capacity),
		l.Mailboxes,
		l.MailboxBytes>>20,
		bytesText(l.Database),
		bytesText(l.Growth),
	)
}

// judgeMailboxes refuses flags that make no run, before anything is connected to.
func (f *runFlags) judgeMailboxes() error {
	m := &f.mailbox
	if err := m.CheckRequest(); err != nil {
		return usageError("--%w", err)
	}
	if m.PerMailbox > 0 && f.Rate > 0 {
		return usageError(
			"--iops-per-mailbox and --rate exclude each other: the one sets the other",
		)
	}
	if m.PerMailbox > 0 && !m.Closed && f.WarmupTime.Duration < runs.MinPacedWarmup {
		return usageError("--warmup-time is %s: with --iops-per-mailbox it must be at least %s, in which the rate is found", f.WarmupTime, runs.MinPacedWarmup)
	}
	return nil
}

// planMailboxes puts a run on mailboxes together. Their records are known to the machine alone that
// drives them, so there is one.
func (f *runFlags) planMailboxes(
	ctx context.Context,
	targets []store.Database,
	infos []store.Info,
) (workload.Plan, error) {
	if f.UserOffset > 0 {
		return nil, usageError("--user-offset: a mailbox database is driven from one machine, which knows all of its records")
	}
	plan, err := mailbox.NewPlan(ctx, mailboxEngines, targets, infos, f.mailbox)
	if err != nil {
		return nil, err
	}
	if err := runs.CheckPace(plan, f.WarmupTime.Duration); err != nil {
		return nil, flagError("iops-per-mailbox", err)
	}
	return plan, nil
}
