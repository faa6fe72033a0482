package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"ds2/internal/experiment"
	"ds2/internal/limit"
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

// verdict judges a run by its limits, reads its databases to the last page and audits them, as far as that was asked
// for. It tells stderr what failed, and gives it in a few words.
func verdict(i *interrupts, run *experiment.Run, limits []limit.Verdict, o *driveOutput, stderr io.Writer) (failed []string, err error) {
	if !limit.Passed(limits) {
		failed = append(failed, "limits failed: "+limit.Failed(limits))
	}
	damaged := false
	if o.verify == verifyDeep {
		if damaged, err = scrubRun(i, run, o, stderr); err != nil {
			return nil, err
		}
		if damaged {
			failed = append(failed, "the database is damaged")
		}
	}
	if o.verify == verifyNone {
		return failed, nil
	}
	switch passed, err := auditRun(i, run, o.quiet, stderr); {
	case err != nil && i.soft.Err() != nil:
		return nil, err
	case err != nil:
		failed = append(failed, fmt.Sprintf("not audited: %v", err))
	case !passed:
		failed = append(failed, "the audit failed: the database does not hold what the run says it did")
	}
	return failed, nil
}

// scrubRun reads every page of the run's databases and tells what is damaged. A server of the kit's own is started anew
// before, so that its pages are read from the drive.
func scrubRun(i *interrupts, run *experiment.Run, o *driveOutput, stderr io.Writer) (damaged bool, err error) {
	if o.own != nil {
		if err := o.own.Restart(i.soft); err != nil {
			return false, err
		}
		for _, target := range run.Targets() {
			target.DB().SetMaxIdleConns(0) // those are connections to the server that was
		}
	}
	scrubs, err := scrub(i.soft, run.Targets(), o.quiet, stderr)
	if err != nil {
		return false, err
	}
	for _, s := range scrubs {
		for _, d := range s.Damage {
			fmt.Fprintf(stderr, "damaged: %s: %s\n", strings.TrimSpace(d.Object+" "+d.Place), d.Found)
			damaged = true
		}
	}
	return damaged, run.SaveScrubs(scrubs)
}

// scrub reads every page of some databases.
func scrub(ctx context.Context, stores []store.Store, quiet bool, stderr io.Writer) ([]store.Scrub, error) {
	view := newBytesView(quiet, stderr)
	defer view.stop()
	return experiment.Scrub(ctx, stores, func(p store.ScrubProgress) { view.tell(p.Doing+" every page", p.Done, p.Total) })
}

// auditRun audits what the run left behind and tells each check that did not pass.
func auditRun(i *interrupts, run *experiment.Run, quiet bool, stderr io.Writer) (passed bool, err error) {
	view := newBytesView(quiet, stderr)
	audit, err := run.Audit(i.soft, func(target string, done, total int64) { view.tell("audit "+target, done, total) })
	view.stop()
	for _, c := range audit.Checks {
		if !c.Passed {
			fmt.Fprintf(stderr, "audit of %s failed: %s: expected %s, found %s\n", c.Target, c.Name, c.Expected, c.Found)
		}
	}
	return audit.Passed, err
}
