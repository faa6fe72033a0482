package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	l *looks,
	cmd *cobra.Command,
) (o runs.Options, done func(), err error) {
	o, err = f.options(i.Soft, l)
	unlock := func() {}
	done = func() { unlock(); o.Observer.Close(); closeStores(o.Databases) }
	if err == nil && o.Plan == nil { // why, a check has listed
		l.skip(o.Databases, append([]string{"lock", "counters and meters"}, ofObserved...)...)
		return o, done, nil
	}
	if err == nil {
		if unlock, err = i.lockStores(l.lock, l.runID, o.Databases, cmd.ErrOrStderr()); err == nil {
			l.ok("lock", "no other ds2 is at work on %s", list(o.Databases))
		}
		err = l.step("lock", "", err)
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
func (f *runFlags) driven(ctx context.Context, l *looks, o runs.Options) {
	plan, tells := o.Plan.(workload.Driven)
	if !tells || f.Restore != "" && f.Restore != upkeep.RestoreNone {
		return
	}
	for _, s := range o.Databases {
		if n, err := plan.Added(ctx, s); err == nil && n > 0 {
			l.warn("database",
				fmt.Errorf("%s was driven before: it has %d orders beyond the load", s.Label(), n),
				"ds2 reset removes them")
		}
	}
}

// sameSchema warns of a schema that is not as the load made it, in a database that is not replaced
// before the run.
func (f *runFlags) sameSchema(ctx context.Context, l *looks, o runs.Options) {
	if f.Restore == upkeep.RestoreSnapshot {
		return
	}
	for _, s := range o.Databases {
		changes, noted, err := load.ReadSchemaChanges(ctx, s)
		for _, c := range changes {
			l.warn("schema", fmt.Errorf("%s: %s", s.Label(), c.Words()),
				"undo that, or load the database again")
		}
		switch {
		case err != nil:
			l.warn("schema", err, "check yourself that it is as ds2 load made it")
		case noted && len(changes) == 0:
			l.ok("schema", "that of %s is as the load made it", s.Label())
		}
	}
}

// distinctTargets refuses a database that is named twice, whatever the names.
func distinctTargets(ctx context.Context, stores []store.Database) error {
	if len(stores) < 2 {
		return nil
	}
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

// looks takes what is found on the way to a run. The run itself warns of what may go wrong with it,
// and ends before its first user where anything failed. A check lists all that it finds, and goes
// on as far as it can.
type looks struct {
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
func (l *looks) skip(of []store.Database, checks ...string) {
	l.add(store.Finding{
		What: "checks of " + list(of), State: store.Skipped, Found: strings.Join(checks, ", "),
		Do: "correct what failed, and try again",
	})
}

// add takes findings. Several configurations of an experiment have many in common, which are told
// once.
func (l *looks) add(findings ...store.Finding) {
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
func (l *looks) list() {
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
func (l *looks) refusal() error {
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
func (l *looks) holds(stores []store.Database, plan workload.Plan) {
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
				Do: "check its figures against the server's own counters, and send a first run: " +
					"docs/howto/sqlserver.md",
			})
		}
	}
}

func (l *looks) ok(what, format string, args ...any) {
	l.add(store.Finding{What: what, State: store.OK, Found: fmt.Sprintf(format, args...)})
}

func (l *looks) warn(what string, err error, do string) {
	l.add(store.Finding{What: what, State: store.Warning, Found: err.Error(), Do: do})
}

// step takes how a step ended without which there is no run: a check lists what failed, and the
// error is for who makes the run. That of wrong usage is for both.
func (l *looks) step(what, do string, err error) error {
	if err == nil || !l.check || isUsage(err) {
		return err
	}
	l.add(store.Finding{What: what, State: store.Failure, Found: err.Error(), Do: do})
	return nil
}

// asked looks whether the targets can do what the flags ask of some servers only, so that a run is
// refused before it begins.
func (f *runFlags) asked(ctx context.Context, l *looks, o runs.Options) error {
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
			l.ok(check.flag, "the user %s of %s", check.ok, list(o.Databases))
		}
		if err := l.step(check.flag, "", err); err != nil {
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

// addDrives adds the flags that say which drives are observed.
func addDrives(flags *pflag.FlagSet, o *monitor.Options) {
	flags.StringSliceVar(
		&o.Devices,
		"devices",
		nil,
		"block devices to observe, such as nvme0n1,sda; "+
			"data=nvme1n1,log=nvme2n1 also says what is on them (default: those under the database's files, if the "+
			"server is on this machine)",
	)
	flags.StringArrayVar(
		&o.Exporters,
		"exporter",
		nil,
		"URL of the database machine's node_exporter or "+
			"windows_exporter, such as http://db1:9100/metrics, read each second; may be repeated, for several targets",
	)
}

// optionError is what a user reads of an option that cannot be followed.
func optionError(option *monitor.OptionError) error {
	if option.Field == "devices" {
		return flagError(option.Field, option.Unwrap())
	}
	return fmt.Errorf("--%s: %w", option.Field, option.Unwrap()) // it does not answer
}

// observeFlags say what is observed beside the orders.
type observeFlags struct {
	monitor.Options
	deviceRecord string
	device       *result.Device // from deviceRecord; nil: none
}

func (f *observeFlags) add(flags *pflag.FlagSet) {
	addDrives(flags, &f.Options)
	flags.StringVar(
		&f.deviceRecord,
		"device-record",
		"",
		"record of ds2 device for the drives under test: the "+
			"report then has the run's share of their limit",
	)
	flags.Var(
		oneOf(&f.SMART, monitor.SMARTAuto, monitor.SMARTOn, monitor.SMARTOff),
		"smart",
		"read the drives' "+
			"SMART before and after a run, by smartctl: bytes written, wear, heat; "+
			"on also reports what cannot be read",
	)
	flags.BoolVar(
		&f.IOTrace,
		"io-trace",
		false,
		"time every I/O of the database's drives by purpose, such as log "+
			"flushes, with eBPF; needs the database's machine, Linux and root",
	)
	flags.Var(
		byteSize(&f.ServerMemory),
		"server-memory",
		"memory that the database server may use, such as 8GB "+
			"(default: that of its machine or container, if known)",
	)
	power := func(text string) (string, error) {
		f.PowerCommand = text
		f.PowerLog = ""
		if file, isLog := strings.CutPrefix(text, "log:"); isLog {
			f.PowerCommand = ""
			f.PowerLog = file
		}
		return text, nil
	}
	flags.Var(
		parsed[string]{new(string), "source", power, same, ""},
		"power",
		"where watts come from: a command that "+
			"prints them, such as 'ipmitool dcmi power reading', run at most once a second; or log:FILE, which a "+
			"meter or its logger writes: times and watts",
	)
	under(flags, ofObserving, "devices", "exporter", "power")
}

// check refuses what cannot be observed whatever the server, and reads what was measured of the
// drives before.
func (f *observeFlags) check() (err error) {
	if f.deviceRecord != "" {
		if f.device, err = result.ReadDevice(f.deviceRecord); err != nil {
			return flagError("device-record", err)
		}
	}
	if wrong, ok := errors.AsType[*monitor.OptionError](f.Check()); ok {
		return flagError(wrong.Field, wrong)
	}
	for _, url := range f.Exporters {
		if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
			return usageError("--exporter: %q is not a URL: write it as http://host:9100/metrics",
				url)
		}
	}
	return nil
}

// observed finds out what can be observed beside a run, and looks at what that shows of servers and
// machines.
func (f *runFlags) observed(ctx context.Context, l *looks, o *runs.Options) error {
	observer, err := f.observer(ctx, l, o)
	if observer == nil {
		if err == nil { // a check has listed it
			l.skip(o.Databases, ofObserved...)
		}
		return err
	}
	o.Observer = observer
	o.Device = f.observe.device
	if o.Device != nil {
		if why := o.Device.Elsewhere(observer.Machine); why != "" {
			l.add(store.Finding{
				What: "--device-record", State: store.Failure, Found: why,
				Do: "measure the drives of the data by ds2 device, or leave out the flag",
			})
		}
	}
	var targets []preflight.Target
	for k, s := range o.Databases {
		e, err := preflight.Server(ctx, s, o.Threads)
		if err != nil {
			l.warn("server", err, "check its connections and the user's rights yourself")
		}
		l.add(e.Findings...)
		tooFew := func(f store.Finding) bool { return f.State == store.Failure }
		if l.check && err == nil && !slices.ContainsFunc(e.Findings, tooFew) {
			l.add(preflight.Connect(ctx, s, o.Threads))
		}
		files := observer.Servers[k].Files
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
		var found []string
		for _, f := range observer.Found {
			found = append(found, result.Observed(f).Words())
		}
		for _, text := range slices.Concat(observer.Reads, observer.Distorting, found) {
			if !l.quiet { // who reads of what makes the run a poor test of storage in its result
				warn(l.w, "%s", text)
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
	l *looks,
	o *runs.Options,
) (*monitor.Observer, error) {
	options := f.observe.Options
	for {
		observer, err := monitor.Observe(ctx, o.Databases, o.RunTime.Duration, options)
		option, wrong := errors.AsType[*monitor.OptionError](err)
		switch {
		case err == nil:
			if options.PowerCommand+options.PowerLog != "" {
				l.ok("--power", "answers")
			}
			for _, address := range options.Exporters {
				l.ok("--exporter", "%s answers", address)
			}
			return observer, nil
		case wrong && l.check:
			l.add(store.Finding{
				What: "--" + option.Field, State: store.Failure, Found: option.Error(),
				Do: "correct it, or leave out the flag",
			})
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
			return nil, l.step("counters", "", err)
		}
	}
}
