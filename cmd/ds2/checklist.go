package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ds2/internal/preflight"
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

	all []preflight.Finding
}

// ofObserved are the checks that take servers and machines that are observed.
var ofObserved = []string{
	"settings", "version", "rights", "connections", "room", "open files",
}

// add takes findings, with passwords taken out of what servers and drivers say. Several
// configurations of an experiment have many in common, which are told once.
func (l *checklist) add(findings ...preflight.Finding) {
	for _, f := range findings {
		f.Found, f.Do = redact(f.Found), redact(f.Do)
		if slices.Contains(l.all, f) {
			continue
		}
		l.all = append(l.all, f)
		if f.State == preflight.Warning && !l.check && !l.quiet { // an error tells failures
			warn(l.w, "%s", wordFinding(f))
		}
	}
}

// wordFinding is a finding in words, with what to do.
func wordFinding(f preflight.Finding) string {
	text := f.What + ": " + f.Found
	if f.Do != "" {
		text += "; " + f.Do
	}
	return text
}

// levels are those of findings, in the order in which a check lists them.
var levels = []struct {
	state preflight.State
	level level
}{
	{preflight.Failure, failure},
	{preflight.Warning, warning},
	{preflight.Skipped, level{word: "skipped"}},
	{preflight.OK, level{word: "ok"}},
}

// list prints what a check has found, the worst first. What is in order is only counted, unless
// details are asked for.
func (l *checklist) list() {
	for _, of := range levels {
		for _, f := range l.all {
			if f.State == of.state && (f.State != preflight.OK || l.details && !l.quiet) {
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
		if f.State == preflight.Failure && !l.check {
			all = append(all, errors.New(wordFinding(f)))
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
		l.note(preflight.Loaded, s.Label(), name+", size "+plan.Size())
		if proof := proofs[s.Engine()]; proof != "" {
			l.note(preflight.EngineUnproven, "", s.Engine()+" is "+proof)
		}
	}
}

// note takes a finding of a kind, about a database or a flag.
func (l *checklist) note(kind preflight.Kind, of, detail string) {
	l.add(preflight.NewFinding(kind, of, detail))
}

// step takes how a step ended without which there is no run: a check lists what failed, by its
// kind, and the error is for who makes the run. That of wrong usage is for both.
func (l *checklist) step(kind preflight.Kind, of string, err error) error {
	if err == nil || !l.check || isUsage(err) {
		return err
	}
	l.note(kind, of, err.Error())
	return nil
}
