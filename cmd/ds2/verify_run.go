package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"ds2/internal/experiment"
	"ds2/internal/limit"
	"ds2/internal/result"
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
func verdict(i interrupts, run *experiment.Run, limits []limit.Limit, verify verifyFlag, quiet bool, stderr io.Writer) (failed []string, err error) {
	if len(limits) > 0 {
		verdicts, err := run.Judge()
		if err != nil {
			return nil, err
		}
		if !limit.Passed(verdicts) {
			failed = append(failed, "limits failed: "+limit.Failed(verdicts))
		}
	}
	if verify == verifyDeep {
		whole, err := scrubRun(i, run, quiet, stderr)
		if err != nil {
			return nil, err
		}
		if !whole {
			failed = append(failed, "the database is damaged")
		}
	}
	if verify != verifyNone {
		passed, err := auditRun(i, run, quiet, stderr)
		if err != nil {
			return nil, err
		}
		if !passed {
			failed = append(failed, "the audit failed: the database does not hold what the run says it did")
		}
	}
	return failed, nil
}

// scrubRun reads every page of the run's databases and tells what is damaged.
func scrubRun(i interrupts, run *experiment.Run, quiet bool, stderr io.Writer) (whole bool, err error) {
	show := newScrubView(quiet, stderr)
	defer show.stop()
	scrubs, err := run.Scrub(i.soft, show.tell)
	show.stop()
	whole = true
	for _, s := range scrubs {
		tellScrub(stderr, s)
		whole = whole && len(s.Damage) == 0
	}
	return whole, err
}

// tellScrub prints what a scrub found.
func tellScrub(w io.Writer, s store.Scrub) {
	for _, d := range s.Damage {
		fmt.Fprintf(w, "damaged: %s\n", strings.TrimSpace(fmt.Sprintf("%s %s: %s", d.Object, d.Place, d.Found)))
	}
}

// auditRun audits what the run left behind and tells each check that did not pass.
func auditRun(i interrupts, run *experiment.Run, quiet bool, stderr io.Writer) (passed bool, err error) {
	if !quiet {
		fmt.Fprintln(stderr, "auditing the database")
	}
	audit, err := run.Audit(i.soft, func(c result.Check) {
		if !c.Passed {
			fmt.Fprintf(stderr, "audit of %s failed: %s: expected %s, found %s\n", c.Target, c.Name, c.Expected, c.Found)
		}
	})
	return audit.Passed, err
}
