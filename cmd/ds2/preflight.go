package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"ds2/internal/background"
	"ds2/internal/driver"
	"ds2/internal/durability"
	"ds2/internal/experiment"
	"ds2/internal/monitor"
	"ds2/internal/preflight"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// preflightFlags are those of the run that is asked about.
type preflightFlags struct {
	drive   driveFlags
	observe observeFlags
	output  driveOutput
}

func newPreflightCommand() *cobra.Command {
	var f preflightFlags
	cmd := &cobra.Command{
		Use:   "preflight",
		Short: "Look at what could go wrong with a run, before it",
		Long: `Takes the flags of ds2 drive and looks at all that could go wrong with that run in its first minutes: the server's
version and the user's rights, size and state of the database, room for growth and log, connections, settings that distort
a test of storage, exporters, Prometheus and the power command, clocks, ports, and the directory of the record. Each gets a
line: ok, warning or FAILURE, with what to do. So does what reads beside the users or works after them: --scrub-rate, --copies
and --debt. Nothing is changed; --copies is tried, with a temporary replication slot for each.

The exit code is 3 where the run would fail, and 0 where there are only warnings. ds2 drive itself looks at most of it, too.`,
		Example: `  ds2 preflight --target postgres://ds2:ds2@localhost/ds2 --threads 32 --run-time 20m
  ds2 preflight --target postgres://ds2:ds2@db1/ds2 --threads 32 --exporter http://db1:9100/metrics`,
		Args: flagsOnly,
		RunE: interruptible("nothing more is asked", func(i *interrupts, cmd *cobra.Command, _ []string) error { return f.run(i, cmd) }),
	}
	addDriveFlags(cmd.Flags(), &f.drive, &f.observe, &f.output)
	return cmd
}

func (f *preflightFlags) run(i *interrupts, cmd *cobra.Command) error {
	if err := judgeRun(cmd.Flags(), &f.drive, &f.observe, &f.output); err != nil {
		return err
	}
	j, err := f.drive.judge(time.Now())
	if err != nil {
		return err
	}
	stores, err := f.drive.open()
	if err != nil {
		return err
	}
	defer closeStores(stores)
	c := f.drive.config
	c.Targets = make([]string, len(stores))
	p := &preflightView{ctx: i.soft, w: cmd.OutOrStdout(), json: f.output.format == "json", quiet: f.output.quiet}
	ready, plan, err := p.databases(i, f, stores)
	if err != nil {
		return err
	}
	if len(ready) == len(stores) && i.soft.Err() == nil {
		p.observed(f, ready, plan, j.crash, c)
	}
	p.here(f, c)
	if i.soft.Err() != nil {
		return &exitError{exitInterrupted, errors.New("the preflight was interrupted")}
	}
	return p.end()
}

// preflightView prints findings as they come, or all of them as JSON at the end.
type preflightView struct {
	ctx         context.Context
	w           io.Writer
	json, quiet bool
	all         []store.Finding
}

// stateWords are the states as they are printed.
var stateWords = map[store.State]string{store.OK: "ok", store.Warning: "warning", store.Failure: "FAILURE"}

func (p *preflightView) add(findings ...store.Finding) {
	for _, f := range findings {
		f.Found, f.Do = redact(f.Found), redact(f.Do)
		p.all = append(p.all, f)
		if p.json || p.quiet && f.State == store.OK {
			continue
		}
		fmt.Fprintf(p.w, "%-8s %s: %s", stateWords[f.State], f.What, f.Found)
		if f.Do != "" {
			fmt.Fprintf(p.w, "; %s", f.Do)
		}
		fmt.Fprintln(p.w)
	}
}

func (p *preflightView) ok(what, format string, args ...any) {
	p.add(store.Finding{What: what, State: store.OK, Found: fmt.Sprintf(format, args...)})
}

func (p *preflightView) worse(what string, state store.State, do string, err error) {
	p.add(store.Finding{What: what, State: state, Found: err.Error(), Do: do})
}

// end sums up.
func (p *preflightView) end() error {
	n := map[store.State]int{}
	for _, f := range p.all {
		n[f.State]++
	}
	if p.json {
		e := json.NewEncoder(p.w)
		e.SetIndent("", "  ")
		if err := e.Encode(p.all); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(p.w, "%d ok, %d warnings, %d failures\n", n[store.OK], n[store.Warning], n[store.Failure])
	}
	if n[store.Failure] > 0 {
		return verdictError("the run would fail: %d of %d checks failed", n[store.Failure], len(p.all))
	}
	return nil
}

// databases looks at each target by itself, and gives those that can be driven, and the plan of a run on all of them, or on
// the last one where they cannot be driven together. The error is wrong usage.
func (p *preflightView) databases(i *interrupts, f *preflightFlags, stores []store.Store) (ready []store.Store, plan workload.Plan, err error) {
	for _, s := range stores {
		plan, err = f.drive.plan(p.ctx, []store.Store{s})
		if isUsage(err) {
			return nil, nil, err
		}
		if err != nil {
			p.worse("database", store.Failure, "", err)
			continue
		}
		found := fmt.Sprintf("%s holds workload %s, size %s, loaded to the end", s.Label(), plan.Workload().Name(), plan.Size())
		if placement := s.Can().Placement; placement != nil {
			if placed, err := placement(p.ctx); err == nil {
				bytes := int64(0)
				for _, t := range placed {
					bytes += t.Bytes
				}
				found += fmt.Sprintf(", %s of tables and indexes", bytesText(bytes))
			}
		}
		p.ok("database", "%s", found)
		if proof := proofs[s.Engine()]; proof != "" {
			p.add(store.Finding{What: "engine", State: store.Warning, Found: s.Engine() + " is " + proof, Do: "check what it says against the server's own counters, and send a first run: docs/sqlserver-first-run.md"})
		}
		ready = append(ready, s)

		unlock, err := i.lockStores("preflight", f.drive.runID, []store.Store{s}, io.Discard)
		if err != nil {
			p.worse("lock", store.Failure, "", err)
			continue
		}
		unlock()
		p.ok("lock", "no other ds2 is at work on %s", s.Label())
	}
	if len(ready) > 1 && len(ready) == len(stores) {
		all, err := f.drive.plan(p.ctx, stores)
		if isUsage(err) {
			return nil, nil, err
		}
		if err != nil {
			p.worse("database", store.Failure, "load them alike", err)
		} else {
			plan = all
		}
	}
	return ready, plan, nil
}

// observed looks at the servers and machines of targets that can be driven.
func (p *preflightView) observed(f *preflightFlags, stores []store.Store, plan workload.Plan, crash *durability.Plan, c driver.Config) {
	growth := make([]int64, len(stores))
	for k, s := range stores {
		e, err := preflight.Server(p.ctx, s, store.Need{Users: c.Threads, Checkpoint: f.drive.checkpoint})
		if err != nil {
			p.worse("server", store.Warning, "look yourself at its connections and the user's rights", err)
		}
		p.add(e.Findings...)
		growth[k] = e.LogGrowth
		p.beside(f, crash, s)
	}
	observer := p.observe(f, stores, c.Run)
	if observer == nil {
		return
	}
	p.add(preflight.Observed(observer)...)
	p.add(preflight.Room(roomTargets(observer, stores, growth), preflight.Load{Growth: plan.Growth(c.Threads), Length: c.Length()})...)
}

// roomTargets are the targets with their drives, and what their logs may grow by.
func roomTargets(o *monitor.Observer, stores []store.Store, growth []int64) (targets []preflight.Target) {
	for k, s := range stores {
		free := func(dir string) (int64, string, string, bool) { return o.Free(s, dir) }
		targets = append(targets, preflight.Target{Label: s.Label(), Files: o.Servers[k].Files, LogGrowth: growth[k], Free: free})
	}
	return targets
}

// beside looks whether a target lets itself be read beside the users, and be told to put work off or to do what it has put off.
func (p *preflightView) beside(f *preflightFlags, crash *durability.Plan, s store.Store) {
	var replay *durability.Replay
	if crash != nil {
		replay = crash.Replay
	}
	one, c := []store.Store{s}, f.drive.background.config()
	for _, check := range []struct {
		flag  string
		asked bool
		ok    string
		ask   func() error
	}{
		{"--scrub-rate", c.ScrubRate > 0, "may read the server's files", func() error { return background.Check(p.ctx, one, background.Config{ScrubRate: c.ScrubRate}) }},
		{"--copies", c.Copies > 0, "may read the log", func() error { return background.Check(p.ctx, one, background.Config{Copies: c.Copies}) }},
		{"--replay", replay != nil, "may put off the checkpoints", func() error { return replay.Check(p.ctx, s) }},
		{"--debt", f.drive.debt, "may run a checkpoint and vacuum", func() error { return experiment.CheckDeferred(p.ctx, one) }},
	} {
		if !check.asked {
			continue
		}
		if err := check.ask(); err != nil {
			p.worse(check.flag, store.Failure, "", err)
		} else {
			p.ok(check.flag, "the user %s of %s", check.ok, s.Label())
		}
	}
}

// observe finds out what can be observed. What cannot, though it was asked for, is a failure, and left out of the next try.
func (p *preflightView) observe(f *preflightFlags, stores []store.Store, run time.Duration) *monitor.Observer {
	o := f.observe.Options
	options := map[string]func(){
		"exporter": func() { o.Exporters = nil }, "devices": func() { o.Devices = nil }, "power-command": func() { o.PowerCommand = "" },
		"power-log": func() { o.PowerLog = "" }, "power-query": func() { o.PowerQuery = "" }, "prometheus": func() { o.Prometheus, o.PowerQuery = "", "" },
	}
	for p.ctx.Err() == nil {
		observer, err := monitor.Observe(p.ctx, stores, run, o)
		option, ok := errors.AsType[*monitor.OptionError](err)
		if leaveOut := options[optionName(option)]; ok && leaveOut != nil {
			p.worse("--"+option.Field, store.Failure, "correct it, or leave out the flag", option.Err)
			leaveOut()
			continue
		}
		if err != nil {
			p.worse("counters", store.Failure, "", err)
			return nil
		}
		for _, asked := range []struct{ flag, value string }{{"--power-command", o.PowerCommand}, {"--power-log", o.PowerLog}, {"--prometheus", o.Prometheus}} {
			if asked.value != "" {
				p.ok(asked.flag, "answers")
			}
		}
		for _, address := range o.Exporters {
			p.ok("--exporter", "%s answers", address)
		}
		return observer
	}
	return nil
}

func optionName(e *monitor.OptionError) string {
	if e == nil {
		return ""
	}
	return e.Field
}

// here looks at this machine: ports, the record, open files.
func (p *preflightView) here(f *preflightFlags, c driver.Config) {
	if address := f.output.metricsAddr; address != "" {
		listener, err := net.Listen("tcp", address)
		switch {
		case err == nil:
			listener.Close()
			p.ok("port", "%s is free for /metrics and the live page", address)
		case address == defaultMetricsAddr:
			p.worse("port", store.Warning, "a free port will be taken, which is printed; or give one by --metrics-addr", err)
		default:
			p.worse("port", store.Failure, "give another one by --metrics-addr", err)
		}
	}
	if url := f.output.pushgateway; url != "" {
		client := http.Client{Timeout: 10 * time.Second}
		if response, err := client.Get(url); err != nil {
			p.worse("--pushgateway", store.Failure, "the run would count, but its figures would not be pushed", err)
		} else {
			response.Body.Close()
			p.ok("--pushgateway", "answers")
		}
	}
	p.add(preflight.Record(cmp.Or(f.drive.out, filepath.Join("ds2-results", result.DirName(time.Now(), f.drive.runID)))))
	if finding, known := preflight.Descriptors(c.Threads * len(c.Targets)); known {
		p.add(finding)
	}
}

// warnBefore is a preflight in short, for a run that is about to begin: it prints what would make it fail, or end early.
func warnBefore(ctx context.Context, o *experiment.Options, stderr io.Writer) {
	warn := func(f store.Finding) {
		fmt.Fprintf(stderr, "warning: %s: %s; %s\n", f.What, redact(f.Found), f.Do)
	}
	c := o.Driver
	growth := make([]int64, len(o.Targets))
	for k, s := range o.Targets {
		e, err := preflight.Server(ctx, s, store.Need{Users: c.Threads, Checkpoint: o.CheckpointFirst})
		if err != nil {
			continue // those who connect next say it better
		}
		growth[k] = e.LogGrowth
		for _, f := range e.Findings {
			if f.State != store.OK {
				warn(f)
			}
		}
	}
	for _, f := range preflight.Room(roomTargets(o.Observer, o.Targets, growth), preflight.Load{Growth: o.Plan.Growth(c.Threads), Length: c.Length()}) {
		if f.State == store.Failure {
			warn(f)
		}
	}
	if f, known := preflight.Descriptors(c.Threads * len(o.Targets)); known && f.State != store.OK {
		warn(f)
	}
}
