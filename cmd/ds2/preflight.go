package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"ds2/internal/outside"
	"ds2/internal/preflight"
	"ds2/internal/runs"
	"ds2/internal/topology"
)

func newPreflightCommand() *cobra.Command {
	var f runFlags
	cmd := newCommand("preflight", interruptible(
		"nothing more is asked",
		func(i *interrupts, cmd *cobra.Command, args []string) error {
			l := newChecklist(cmd, &f)
			if len(args) == 0 {
				return l.run(i, cmd, &f)
			}
			return l.experiment(i, cmd, args[0])
		},
	))
	cmd.Args = cobra.MaximumNArgs(1)
	f.output.formatFlags.add(cmd.Flags(), "preflight") // in the place of a run's
	addDriveFlags(cmd.Flags(), &f)
	return cmd
}

// newChecklist is the list of a check, which prints what it finds as the flags of output say.
func newChecklist(cmd *cobra.Command, f *runFlags) *checklist {
	return &checklist{
		w:     cmd.OutOrStdout(),
		check: true,
		json:  f.output.format == "json",
		quiet: f.output.quiet, details: f.output.details,
		lock: "preflight",
	}
}

// run checks one run, with the flags of ds2 drive.
func (l *checklist) run(i *interrupts, cmd *cobra.Command, f *runFlags) error {
	if err := f.judgeRun(); err != nil {
		return err
	}
	if err := l.one(i, cmd, f, nil); err != nil {
		return err
	}
	l.add(preflight.Record(recordDir(f.out, f.RunID)))
	return l.end(i)
}

// experiment checks the runs of all configurations of a file.
func (l *checklist) experiment(i *interrupts, cmd *cobra.Command, path string) (err error) {
	file, err := readExperimentFile(i.Soft, path)
	if err != nil {
		return err
	}
	remove, err := file.connectCluster(i.stderr)
	defer func() { err = errors.Join(err, remove()) }()
	if err != nil {
		return err
	}
	var all []preflight.Planned
	for _, c := range file.configurations {
		// There is no server before a run: one is started, looked at and removed.
		if c.volume.class != "" {
			l.checkClass(i.Soft, c)
			continue
		}
		err := l.one(i, cmd, &c.bench.runFlags, func(o runs.Options) {
			all = append(all, c.planned(i.Soft, o))
		})
		if err != nil {
			return file.of(c, err)
		}
	}
	l.add(preflight.Alike(all, file.declared())...)
	return l.end(i)
}

// planned is a configuration before its first run.
func (c *variant) planned(ctx context.Context, o runs.Options) preflight.Planned {
	p := preflight.Planned{Name: c.Name, Setup: o.Setup(), Databases: map[string]string{}}
	servers, err := topology.Instances(ctx, o.Databases)
	if err != nil {
		return p // the run itself fails by it
	}
	for _, server := range servers {
		for _, database := range server.Databases {
			p.Databases[server.ID+" "+database.Name()] = database.Label()
		}
	}
	return p
}

// one looks at a run, and hands it to look, if there is one, while its databases are open.
func (l *checklist) one(
	i *interrupts,
	cmd *cobra.Command,
	f *runFlags,
	look func(runs.Options),
) error {
	l.runID = f.RunID
	o, done, err := f.ready(i, l, cmd)
	if err != nil && (isUsage(err) || i.Soft.Err() != nil) {
		return err
	}
	if look != nil && err == nil && o.Plan != nil && o.Observer != nil {
		look(o)
	}
	done()
	l.here(f)
	return nil
}

// here looks at what a run needs beside the databases: the ports of this machine, and where figures
// are pushed.
func (l *checklist) here(f *runFlags) {
	if address := f.output.metricsAddr; address != "" {
		// By listening, as only that tells whether a run can.
		listener, err := net.Listen("tcp", address)
		switch {
		case err == nil:
			listener.Close()
			l.note(preflight.PortFree, address, "")
		case address == defaultMetricsAddr:
			l.note(preflight.PortTaken, "", err.Error())
		default:
			l.step(preflight.NoPort, "", err)
		}
	}
	if url := f.output.pushgateway; url != "" {
		client := http.Client{Timeout: outside.Answer}
		if response, err := client.Get(url); err != nil {
			l.step(preflight.NotPushed, "", err)
		} else {
			response.Body.Close()
			l.note(preflight.FlagUsable, "--pushgateway", "answers")
		}
	}
}

// counted is a number of things whose plural ends in s.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// end sums up a check.
func (l *checklist) end(i *interrupts) error {
	if !l.json {
		l.list()
	}
	if i.Soft.Err() != nil {
		return &exitError{exitInterrupted, errors.New("the preflight was interrupted")}
	}
	n := map[preflight.State]int{}
	skipped := 0
	for _, f := range l.all {
		n[f.State]++
		skipped += f.Skips
	}
	sum := fmt.Sprintf("%s, %s, %s passed", counted(n[preflight.Failure], "failure"),
		counted(n[preflight.Warning], "warning"), counted(n[preflight.OK], "check"))
	if skipped > 0 {
		sum += fmt.Sprintf(", %d skipped that depend on what failed", skipped)
	}
	if !l.details {
		sum += " (--details)"
	}
	if !l.json {
		fmt.Fprintln(l.w, sum)
	} else if err := printJSON(l.w, l.all); err != nil {
		return err
	}
	if n[preflight.Failure] > 0 {
		return verdictError("the run would fail")
	}
	return nil
}
