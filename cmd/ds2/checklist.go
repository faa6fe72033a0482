package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ds2/internal/store"
	"ds2/internal/workload"
)

// checklist takes what is found on the way to a run. The run itself warns of what may go wrong with
// it, and ends before its first user where anything failed. A check lists all that it finds, and
// goes on as far as it can.
type checklist struct {
	w           io.Writer
	check       bool
	json, quiet bool
	details     bool // list what is in order, too
	// the command that takes the databases' lock, once they are known
	lock string
	// whose other machines may hold the lock too; empty: none may
	runID string
	// refuses a workload that the command has no use for; nil: none is
	fits func(workload.Workload) error

	all []store.Finding
}

// ofObserved are the checks that take servers and machines that are observed.
var ofObserved = []string{
	"settings",
	"version",
	"rights",
	"connections",
	"room",
	"open files",
}

// skip takes checks of some databases that a failure kept from being made.
func (l *checklist) skip(of []store.Database, checks ...string) {
	l.add(store.Finding{
		What: "checks of " + list(of), State: store.Skipped, Found: strings.Join(checks, ", "),
		Do: "correct what failed, and try again",
	})
}

// add takes findings. Several configurations of an experiment have many in common, which are told
// once.
func (l *checklist) add(findings ...store.Finding) {
	for _, f := range findings {
		f.Found, f.Do = redact(f.Found), redact(f.Do)
		if slices.Contains(l.all, f) {
			continue
		}
		l.all = append(l.all, f)
		if f.State == store.Warning && !l.check && !l.quiet { // an error tells failures
			warn(l.w, "%s", wordFinding(f))
		}
	}
}

// wordFinding is a finding in words, with what to do.
func wordFinding(f store.Finding) string {
	text := f.What + ": " + f.Found
	if f.Do != "" {
		text += "; " + f.Do
	}
	return text
}

// levels are those of findings, in the order in which a check lists them.
var levels = []struct {
	state store.State
	level level
}{
	{store.Failure, failure},
	{store.Warning, warning},
	{store.Skipped, level{word: "skipped"}},
	{store.OK, level{word: "ok"}},
}

// list prints what a check has found, the worst first. What is in order is only counted, unless
// details are asked for.
func (l *checklist) list() {
	for _, of := range levels {
		for _, f := range l.all {
			if f.State == of.state && (f.State != store.OK || l.details && !l.quiet) {
				padding := strings.Repeat(" ", len("FAILURE ")-len(of.level.word))
				say(l.w, of.level, "%s %s", padding, wordFinding(f))
			}
		}
	}
}

// refusal is why there is no run: all that failed. Of a check it is nil.
func (l *checklist) refusal() error {
	var all []error
	for _, f := range l.all {
		if f.State == store.Failure && !l.check {
			all = append(all, fmt.Errorf("%s: %s; %s", f.What, f.Found, f.Do))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("the run would fail and was not started: %w", errors.Join(all...))
}

// holds tells a check what the targets hold.
func (l *checklist) holds(stores []store.Database, plan workload.Plan) {
	if !l.check {
		return
	}
	name := plan.Workload().Name()
	for _, s := range stores {
		l.ok("database", "%s holds workload %s, size %s, completely loaded", s.Label(), name,
			plan.Size())
		if proof := proofs[s.Engine()]; proof != "" {
			l.add(store.Finding{
				What: "engine", State: store.Warning, Found: s.Engine() + " is " + proof,
				Do: "check its figures against the server's own counters, and send a first run: docs/howto/sqlserver.md",
			})
		}
	}
}

func (l *checklist) ok(what, format string, args ...any) {
	l.add(store.Finding{What: what, State: store.OK, Found: fmt.Sprintf(format, args...)})
}

func (l *checklist) warn(what string, err error, do string) {
	l.add(store.Finding{What: what, State: store.Warning, Found: err.Error(), Do: do})
}

// step takes how a step ended without which there is no run: a check lists what failed, and the
// error is for who makes the run. That of wrong usage is for both.
func (l *checklist) step(what, do string, err error) error {
	if err == nil || !l.check || isUsage(err) {
		return err
	}
	l.add(store.Finding{What: what, State: store.Failure, Found: err.Error(), Do: do})
	return nil
}
