package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ds2/internal/background"
	"ds2/internal/load"
	"ds2/internal/monitor"
	"ds2/internal/preflight"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/store"
	"ds2/internal/topology"
	"ds2/internal/upkeep"
	"ds2/internal/workload"
)

// ready takes a run from its flags to where its first user would connect. What it opens, done
// closes.
func (f *runFlags) ready(
	i *interrupts,
	l *checklist,
	cmd *cobra.Command,
) (o runs.Options, done func(), err error) {
	if !l.check {
		f.tellIgnored(i.stderr)
	}
	o, err = f.options(i.Soft, l)
	unlock := func() {}
	done = func() { unlock(); o.Observer.Close(); closeStores(o.Databases) }
	if err == nil && o.Plan == nil { // why, a check has listed
		skipped := append([]string{"lock", "counters and meters"}, ofObserved...)
		l.add(preflight.NewSkipped(list(o.Databases), skipped...))
		return o, done, nil
	}
	if err == nil {
		if unlock, err = i.lockStores(l.lock, l.runID, o.Databases); err == nil {
			l.note(preflight.NotLocked, list(o.Databases), "")
		}
		err = l.step(preflight.Locked, "", err)
	}
	if err == nil {
		o.Command = invocation(cmd, cmd.Flags(), o.Plan)
		f.driven(i.Soft, l, o)
		f.sameSchema(i.Soft, l, o)
		err = f.observed(i.Soft, l, &o)
	}
	if err != nil {
		done()
		done = func() {}
	}
	return o, done, err
}

// driven warns of what earlier runs left in a database that is not restored before the run.
func (f *runFlags) driven(ctx context.Context, l *checklist, o runs.Options) {
	plan, tells := o.Plan.(workload.Driven)
	if !tells || f.Restore != "" && f.Restore != upkeep.RestoreNone {
		return
	}
	// Orders beyond the load make tables and indexes larger: the second of two runs without a reset
	// between them is of another database.
	for _, s := range o.Databases {
		if n, err := plan.Added(ctx, s); err == nil && n > 0 {
			l.note(preflight.DrivenBefore, s.Label(), fmt.Sprint(n))
		}
	}
}

// sameSchema warns of a schema that is not as the load made it, in a database that is not replaced
// before the run.
func (f *runFlags) sameSchema(ctx context.Context, l *checklist, o runs.Options) {
	if f.Restore == upkeep.RestoreSnapshot {
		return
	}
	for _, s := range o.Databases {
		changes, noted, err := load.ReadSchemaChanges(ctx, s)
		for _, c := range changes {
			l.note(preflight.SchemaChanged, s.Label(), c.Words())
		}
		switch {
		case err != nil:
			l.note(preflight.SchemaUnknown, "", err.Error())
		case noted && len(changes) == 0:
			l.note(preflight.SchemaAsLoaded, s.Label(), "")
		}
	}
}

// distinctTargets refuses a database that is named twice, whatever the names.
func distinctTargets(ctx context.Context, stores []store.Database) error {
	if len(stores) < 2 {
		return nil
	}
	// A host has several names and addresses: what tells servers apart is what they say themselves.
	servers, err := topology.Instances(ctx, stores)
	if err != nil {
		return err
	}
	for _, s := range servers {
		seen := map[string]store.Database{}
		for _, one := range s.Databases {
			if other, twice := seen[one.Name()]; twice {
				return usageError("--target: %s and %s are one database: name each once",
					other.Label(), one.Label())
			}
			seen[one.Name()] = one
		}
	}
	return nil
}

func list(stores []store.Database) string {
	return strings.Join(mapped(stores, store.Database.Label), ", ")
}

// asked looks whether the targets can do what the flags ask of some servers only, so that a run is
// refused before it begins.
func (f *runFlags) asked(ctx context.Context, l *checklist, o runs.Options) error {
	for _, check := range []struct {
		flag  string
		asked bool
		ok    string
		ask   func(context.Context, []store.Database) error
	}{
		{"--scrub-rate", o.ScrubRate > 0, "may read the server's files", background.CheckScrubs},
		{
			"--checkpoint-first", o.CheckpointFirst, "may run a checkpoint",
			may("checkpoints", runs.Checkpointer.MayCheckpoint),
		},
		{
			"--verify deep", o.Verify == result.VerifyDeep, "may check every page",
			may("deep checks", upkeep.DeepChecker.MayDeepCheck),
		},
		{
			"--cold-start", o.ColdStart, "may empty the server's cache",
			may("cold starts except by a restart of the server", runs.CacheDropper.MayDropCache),
		},
	} {
		if !check.asked {
			continue
		}
		err := check.ask(ctx, o.Databases)
		if err == nil {
			l.note(preflight.FlagUsable, check.flag, "the user "+check.ok+" of "+list(o.Databases))
		}
		if err := l.step(preflight.FlagRefused, check.flag, err); err != nil {
			return err
		}
	}
	return nil
}

// may asks of each target whether it may do what is an interface of its engine, and refuses one
// that does not have it.
func may[T any](
	what string,
	ask func(T, context.Context) error,
) func(context.Context, []store.Database) error {
	return func(ctx context.Context, targets []store.Database) error {
		for _, t := range targets {
			engine, ok := t.(T)
			if !ok {
				return store.Unsupported(t, what)
			}
			if err := t.Wrap("ask "+t.Label()+" for "+what, ask(engine, ctx)); err != nil {
				return err
			}
		}
		return nil
	}
}

// observed finds out what can be observed beside a run, and looks at what that shows of servers and
// machines.
func (f *runFlags) observed(ctx context.Context, l *checklist, o *runs.Options) error {
	observer, err := f.observer(ctx, l, o)
	if observer == nil {
		if err == nil { // a check has listed it
			l.add(preflight.NewSkipped(list(o.Databases), ofObserved...))
		}
		return err
	}
	o.Observer = observer
	o.Device = f.observe.device
	if o.Device != nil {
		if why := o.Device.Elsewhere(observer.Machine); why != "" {
			l.note(preflight.OtherDrives, "", why)
		}
	}
	var targets []preflight.Target
	for k, s := range o.Databases {
		e, found, err := preflight.Server(ctx, s, o.Threads)
		if err != nil {
			l.note(preflight.NotExamined, "", err.Error())
		}
		l.add(found...)
		fails := func(f preflight.Finding) bool { return f.State == preflight.Failure }
		// A check tries the connections; a run makes them itself, at its beginning. Where the
		// server has said that it refuses, there is nothing to try.
		if l.check && err == nil && !slices.ContainsFunc(found, fails) {
			l.add(preflight.Connect(ctx, s, o.Threads))
		}
		files := observer.Servers[k].Files
		// The finding on the missing right says why the files are unknown: a second says no more.
		if e.Hidden && len(files) == 0 {
			observer.Told()
			continue
		}
		free := func(dir string) (int64, string, string, bool) { return observer.Free(s, dir) }
		targets = append(targets,
			preflight.Target{Label: s.Label(), Files: files, LogGrowth: e.LogGrowth, Free: free})
	}
	if l.check {
		l.add(preflight.Observed(observer)...)
	} else {
		for _, text := range observer.Notes {
			say(l.w, note, ": %s", text)
		}
		for _, f := range observer.Found {
			if !l.quiet { // who reads of what makes the run a poor test of storage in its result
				warn(l.w, "%s", result.Observed(f).Words())
			}
		}
	}
	l.add(preflight.Room(targets)...)
	if finding, known := preflight.Descriptors(o.Threads * len(o.Databases)); known {
		l.add(finding)
	}
	return l.refusal()
}

// observer finds out what can be observed. To a check, what cannot, though it was asked for, is a
// failure, and left out of the next try.
func (f *runFlags) observer(
	ctx context.Context,
	l *checklist,
	o *runs.Options,
) (*monitor.Observer, error) {
	options := f.observe.Options
	for {
		observer, err := monitor.Observe(ctx, o.Databases, o.RunTime.Duration, options)
		option, wrong := errors.AsType[*monitor.OptionError](err)
		switch {
		case err == nil:
			if options.PowerCommand+options.PowerLog != "" {
				l.note(preflight.FlagUsable, "--power", "answers")
			}
			for _, address := range options.Exporters {
				l.note(preflight.FlagUsable, "--exporter", address+" answers")
			}
			return observer, nil
		case wrong && l.check:
			l.note(preflight.FlagWrong, "--"+option.Field, option.Error())
			switch option.Field {
			case "exporter":
				options.Exporters = nil
			case "devices":
				options.Devices = nil
			case "power":
				options.PowerCommand = ""
				options.PowerLog = ""
			default:
				return nil, err
			}
		case wrong:
			return nil, optionError(option)
		default:
			return nil, l.step(preflight.NotObserved, "", err)
		}
	}
}
