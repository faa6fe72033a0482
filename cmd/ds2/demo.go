package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"ds2/internal/atomicfile"
	"ds2/internal/localpg"
	"ds2/internal/report"
	"ds2/internal/result"
	"ds2/internal/store/postgres"
	"ds2/internal/topology"
	"ds2/schema"
)

type demoFlags struct {
	server localpg.Options
	keep   bool
	stall  bool // the server in mid-run
	load   loadFlags
	drive  runFlags
}

func newDemoCommand() *cobra.Command {
	var f demoFlags
	cmd := newCommand("demo", interruptible(firstOfRun, f.run))
	// The load and the run have their own commands' defaults, but for these.
	run := newFlagSet(f.drive.add)
	preset(run, "threads=8", "ramp-rate=100", "warmup-time=10s", "run-time=1m")
	f.drive.output.metricsAddr = defaultMetricsAddr

	flags := cmd.Flags()
	f.load.flags = flags
	declare(flags, "demo", fields{"workload": &f.load.workload, "size": &f.load.size})
	addMailboxes(flags, &f.load.mailbox)
	preset(flags, "mailboxes=20", "mailbox-size=10MB")
	for _, name := range strings.Fields("threads warmup-time run-time seed out scrub-rate") {
		flags.AddFlag(run.Lookup(name))
	}
	declare(flags, "demo", fields{
		"keep":             &f.keep,
		"brownout":         &f.stall,
		"postgres-version": &f.server.Version,
		"postgres-bin":     &f.server.BinDir,
	})
	declare(flags, "run", fields{"verify": &f.drive.Verify})
	f.drive.output.shownFlags.add(flags, "run")
	return cmd
}

// run is the whole way. The server is stopped whatever happens on it.
func (f *demoFlags) run(i *interrupts, cmd *cobra.Command, _ []string) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	f.load.quiet = f.drive.output.quiet
	stderr := unlessQuiet(f.load.quiet, i.stderr)
	measures := f.measures(topology.Root.Machine(nil).MemoryBytes)
	fmt.Fprintln(stderr, measures)
	if err := f.drive.output.serve(i, cmd, f.drive.output.quiet, ""); err != nil {
		return err
	}
	server, err := f.start(i.Soft, stderr)
	if err != nil {
		return interrupted(i.Soft, err, "the demo was interrupted")
	}
	page := "" // address of the report
	end := sync.OnceFunc(func() { server.Kill(); server.Stop() })
	// A second Ctrl-C ends this process within a second, and its server must not outlive it.
	i.atLeave.Store(&end)
	kill := context.AfterFunc(i.Hard, end) // at once: on a busy machine its files take a while, too
	defer func() {
		err = errors.Join(err, server.Stop())
		kill()
		if err == nil {
			fmt.Fprintln(stderr, "PostgreSQL stopped, nothing is left running")
		}
		if page != "" { // the last word, to be opened
			fmt.Fprintln(stderr, "the result, for a browser:", page)
		}
	}()
	f.load.target = server.URL("ds2")
	f.drive.target = f.load.target
	f.drive.output.restart = server.Restart
	if f.stall {
		if f.drive.events, err = f.brownout(server); err != nil {
			return err
		}
	}
	if err := f.fill(i, stderr); err != nil {
		return interrupted(i.Soft, err, "the demo was interrupted")
	}
	verdict := f.drive.drive(i, cmd)
	if page, err = writeReport(f.drive.out); err != nil && verdict == nil {
		return err
	}
	if f.keep && i.Soft.Err() == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n", f.drive.target)
		fmt.Fprintln(stderr, "the database stays until Ctrl-C")
		<-i.Soft.Done()
	}
	return verdict
}

// check judges what can be judged before anything is started, and names the run and its record.
func (f *demoFlags) check() error {
	switch {
	case f.drive.RunTime.Duration <= 0:
		return usageError("--run-time: it must be more than 0 for a demo, such as 60s")
	case f.stall && f.drive.RunTime.Duration < shortestBrownout:
		return usageError("--brownout needs a --run-time of at least %s", shortestBrownout)
	}
	f.drive.target = "postgres://127.0.0.1/ds2" // as far as flags can tell
	if err := cmp.Or(f.load.dataset(), f.drive.output.shows(f.load.workload),
		f.drive.judgeRun()); err != nil {
		return err
	}
	f.drive.out = recordDir(f.drive.out, f.drive.RunID)
	return checkOut(f.drive.out)
}

// How long a brownout stops the server, and the shortest run that has as much around it as it takes
// to say what it cost.
const brownout, shortestBrownout = 7 * time.Second, 2 * (7*time.Second + aroundEvents)

// brownout are the events that stop a server's processes in the middle of the run and have them go
// on.
func (f *demoFlags) brownout(server *localpg.Server) ([]string, error) {
	file, err := os.ReadFile(filepath.Join(server.DataDir(), "postmaster.pid"))
	if err != nil {
		return nil, fmt.Errorf("find the server's processes: %w", err)
	}
	pid, _, _ := strings.Cut(string(file), "\n")
	// The children of the postmaster are sessions, checkpointer and log writer: stopped, they stand
	// as if no I/O ended, while connections stay.
	at := f.drive.RunTime.Duration / 2
	signal := func(at time.Duration, name string) string {
		return fmt.Sprintf("%s=kill -%s $(cat /proc/%s/task/%s/children)", at, name, pid, pid)
	}
	return []string{signal(at, "STOP"), signal(at+brownout, "CONT")}, nil
}

// start starts the server, with room for the users and the audit.
func (f *demoFlags) start(ctx context.Context, stderr io.Writer) (*localpg.Server, error) {
	f.server.Log = slog.New(slog.NewTextHandler(stderr, nil))
	// By checksums the deep check finds pages that a drive gives back otherwise than they were
	// written.
	f.server.Checksums = true
	f.server.Settings = map[string]string{"max_connections": fmt.Sprint(f.drive.Threads + 50)}
	begin := time.Now()
	server, err := localpg.Start(ctx, f.server)
	if err != nil {
		return nil, err
	}
	took := time.Since(begin).Round(100 * time.Millisecond)
	fmt.Fprintf(stderr, "PostgreSQL %s of %s started in %s\n", server.Version(), server.BinDir(),
		took)
	return server, nil
}

func (f *demoFlags) fill(i *interrupts, stderr io.Writer) error {
	target, err := engines().Open(f.load.target)
	if err != nil {
		return err
	}
	defer target.Close()
	report, err := f.load.load(i, target)
	if err == nil {
		printLoad(stderr, target, f.load.options.Dataset, report)
	}
	return err
}

// writeReport puts the report beside the record, also of a run that failed, and gives its address.
func writeReport(dir string) (address string, err error) {
	record, err := result.Read(dir)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, reportFile)
	if err := atomicfile.Write(path, report.Runs(record).HTML); err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/…
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String(), nil
}

// measures says what a demo measures on a machine with that much memory; 0: unknown.
func (f *demoFlags) measures(memory int64) string {
	bytes := schema.ExpectedBytes(postgres.Engine, f.load.options.Dataset.Params(schema.Params{}))
	text := "this demo measures the CPU, not the drive: its database of about %s fits into memory; load a size larger than that for the drive, see docs/howto/long-runs.md"
	switch {
	case memory == 0:
		text = "this demo measures the CPU, not the drive, unless its database of about %s is larger than the machine's memory"
	case bytes > memory:
		text = "this demo measures the drive too: its database of about %s is larger than the machine's memory of " +
			bytesText(memory)
	}
	return fmt.Sprintf(text, bytesText(bytes))
}
