package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ds2/datagen"
	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/store/sqlserver"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
	ds2postgres "ds2/internal/workload/ds2/postgres"
	ds2sqlserver "ds2/internal/workload/ds2/sqlserver"
	"ds2/internal/workload/mailbox"
)

// tenant is a workload as the command line knows it: with the flags that it alone has, and what
// they make.
type tenant struct {
	workload.Workload
	ds2Lines bool // a run can be shown in DS2's own lines

	// dataset reads what ds2 load is to load.
	dataset func(*loadFlags) (workload.Dataset, error)
	// fit is what of the workload a file system has room for, in pieces of a size; nil: it is sized
	// otherwise.
	fit func(capacity, piece int64) fitLine
	// judge refuses the flags of a run before anything is connected to.
	judge func(*runFlags) error
	// plan puts a run together for databases of the workload, of which ds2_info says infos.
	plan func(
		f *runFlags, ctx context.Context, targets []store.Database, infos []store.Info,
	) (workload.Plan, error)
}

// tenants are the workloads that ds2 knows.
func tenants() map[string]tenant {
	return map[string]tenant{
		ds2.Name: {
			Workload: ds2.Workload{Engines: ds2Engines},
			ds2Lines: true,
			dataset:  (*loadFlags).ds2,
			judge:    (*runFlags).judgeDS2,
			plan:     (*runFlags).planDS2,
		},
		mailbox.Name: {
			Workload: mailbox.Workload{Engines: mailboxEngines},
			dataset:  (*loadFlags).mailboxes,
			fit:      fitMailboxes,
			judge:    (*runFlags).judgeMailboxes,
			plan:     (*runFlags).planMailboxes,
		},
	}
}

// ds2Engines are the engines that DVD Store 2 has calls on.
var ds2Engines = calls.Engines{
	postgres.Engine:  ds2postgres.Connect,
	sqlserver.Engine: ds2sqlserver.Connect,
}

// limitWords are the words of limits that a workload adds: its cycle, its operations, and what a
// limit takes together.
func (t tenant) limitWords() []string {
	w := t.Words()
	words := append(workload.Names(t.Operations()), w.Cycle)
	words = slices.AppendSeq(words, maps.Keys(w.Groups))
	slices.Sort(words)
	return slices.Compact(words)
}

// limitOperations are those of all workloads.
func limitOperations() (words []string) {
	for _, t := range tenants() {
		words = append(words, t.limitWords()...)
	}
	return words
}

// fitLimits refuses limits on operations that a workload does not have.
func (f *runFlags) fitLimits(w workload.Workload) error {
	words := tenants()[w.Name()].limitWords()
	for _, l := range f.limits {
		if l.IsOperation() && !slices.Contains(words, l.Subject) {
			return usageError(
				"--limit: %s: the database is one of workload %s, whose operations are %s",
				l,
				w.Name(),
				strings.Join(words, ", "),
			)
		}
	}
	return nil
}

// workloads are the tenants for who asks databases whose they are.
func workloads() workload.Workloads {
	all := workload.Workloads{}
	for name, t := range tenants() {
		all[name] = t.Workload
	}
	return all
}

// workloadOf is the workload of a database. One that says nothing, because DS2's own scripts loaded
// it, is unnamed's, and so is one of DS2.
func workloadOf(
	ctx context.Context,
	target store.Database,
	unnamed workload.Workload,
) (workload.Workload, error) {
	info, err := store.ReadInfo(ctx, target.DB())
	if err != nil {
		return unnamed, nil // who cannot read it will say so when it reads the rest
	}
	all := workloads()
	all[""] = unnamed
	all[unnamed.Name()] = unnamed
	w, err := all.Of(info)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", target.Label(), err)
	}
	return w, nil
}

// notOf refuses flags that only other workloads have.
func notOf(name string, flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		if other := otherOf(f, name); f.Changed && other != "" {
			err = usageError("--%s: it is a flag of workload %s, and this is workload %s",
				f.Name, other, name)
		}
	})
	return err
}

// otherOf is the workload that alone has a flag, if that is another one.
func otherOf(f *pflag.Flag, name string) string {
	if of := f.Annotations[ofWorkload]; of != nil && of[0] != name {
		return of[0]
	}
	return ""
}

// reader reads records, over windows where some are given.
func reader(windows ...measure.WindowSpec) conclude.Reader {
	read := conclude.Reader{Workloads: map[string]conclude.Concluder{}, Windows: windows}
	for name, t := range tenants() {
		if c, ok := t.Workload.(conclude.Concluder); ok { // it concludes more than all have
			read.Workloads[name] = c
		}
	}
	return read
}

// windowError has a record that lacks the windows that were asked for be a wrong flag.
func windowError(err error) error {
	if _, lacks := errors.AsType[*conclude.WindowError](err); lacks {
		return flagError("window", err)
	}
	return err
}

// plan asks the targets what they hold and puts together what is run on them.
func (f *runFlags) plan(ctx context.Context, targets []store.Database) (workload.Plan, error) {
	var infos []store.Info
	name := ""
	for i, s := range targets {
		w, info, err := workloads().Ask(ctx, s)
		if err != nil {
			return nil, err
		}
		if i > 0 && w.Name() != name {
			return nil, usageError("--target: %s holds workload %s and %s workload %s: targets driven together must be alike", targets[0].Label(), name, s.Label(), w.Name())
		}
		name = w.Name()
		infos = append(infos, info)
	}
	// Only now is it known whose flags are out of place.
	if err := notOf(name, f.flags); err != nil {
		return nil, err
	}
	plan, err := tenants()[name].plan(f, ctx, targets, infos)
	if refused, ok := errors.AsType[*workload.Refusal](err); ok {
		return nil, usageError("--%w", refused)
	}
	return plan, err
}

// judgeDS2 refuses flags that no order can be drawn from.
func (f *runFlags) judgeDS2() (err error) {
	w := &f.workload
	if w.Words, err = readWords(f.words); err != nil {
		return err
	}
	if f.size != "" {
		size, err := parseSize(f.size)
		if err != nil {
			return err
		}
		f.expected = &size
	}
	checked := *w
	checked.Size = datagen.S // the database tells the right one
	if err := checked.Check(); err != nil {
		return usageError("--%w", err)
	}
	return nil
}

func (f *runFlags) planDS2(
	_ context.Context,
	targets []store.Database,
	infos []store.Info,
) (workload.Plan, error) {
	plan, err := ds2.Look(targets, infos, ds2Engines, f.expected, f.workload)
	if err != nil {
		return nil, err // a nil of the plan's own type would be one
	}
	return plan, nil
}
