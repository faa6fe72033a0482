package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"ds2/internal/durability"
	"ds2/internal/localpg"
	"ds2/internal/progress"
)

// crashFlags ask for cuts of the server in mid-run.
type crashFlags struct {
	after     time.Duration
	cycles    int
	deepEvery int
	recovery  time.Duration
	journal   bool
	replay    int64 // of log; 0: no replay test
	serverLog string
	commands  durability.Commands
	hasOwn    bool            // there is, or will be, a server of the kit's own, instead of commands
	own       *localpg.Server // nil: not yet
}

// ownServer is a server of the kit's own, to be crashed.
type ownServer struct{ *localpg.Server }

func (s ownServer) Kill(context.Context) error {
	s.Server.Kill()
	return nil
}

func (s ownServer) Start(ctx context.Context) error { return s.Restart(ctx) }

// addShared declares the flags that a demo has too, whose server is its own.
func (f *crashFlags) addShared(flags *pflag.FlagSet) {
	flags.Var(duration(&f.after), "crash-after", flagsTxt)
	flags.IntVar(&f.cycles, "crash-cycles", 0, flagsTxt)
	flags.Var(byteSize(&f.replay), "replay", flagsTxt)
	flags.IntVar(&f.deepEvery, "deep-every", 0, flagsTxt)
}

func (f *crashFlags) add(flags *pflag.FlagSet) {
	f.addShared(flags)
	flags.StringVar(&f.commands.KillLine, "kill-command", "", flagsTxt)
	flags.StringVar(&f.commands.StartLine, "start-command", "", flagsTxt)
	flags.Var(duration(&f.recovery), "recovery-timeout", flagsTxt)
	flags.StringVar(&f.serverLog, "server-log", "", flagsTxt)
	flags.BoolVar(&f.journal, "journal", false, flagsTxt)
}

// Bounds of what crash flags can mean.
const (
	maxCycles    = 100_000
	meanCycle    = 10 * time.Second // by default
	minMeanCycle = 100 * time.Millisecond
)

// parse reads the flags for a run of a length, 0 where it has no end, against so many targets. No crash is nil.
func (f *crashFlags) parse(length time.Duration, targets int, seed uint64) (*durability.Plan, error) {
	if f.replay > 0 || f.serverLog != "" {
		return f.parseReplay(targets, seed)
	}
	commands, asked := f.commands.KillLine != "" && f.commands.StartLine != "", "--crash-after"
	if f.cycles > 0 {
		asked = "--crash-cycles"
	}
	if f.after == 0 && f.cycles > 0 {
		f.after = meanCycle
	}
	switch {
	case f.cycles < 0 || f.cycles > maxCycles:
		return nil, usageError("--crash-cycles is %d: it must be 0 to %d", f.cycles, maxCycles)
	case f.deepEvery < 0:
		return nil, usageError("--deep-every is %d: it must be 0 or more", f.deepEvery)
	case f.deepEvery > 0 && f.cycles == 0:
		return nil, usageError("--deep-every needs --crash-cycles")
	case f.recovery < 0 || f.recovery > 0 && f.cycles == 0:
		return nil, usageError("--recovery-timeout needs --crash-cycles or --replay and must be 0 or more")
	case f.after == 0 && f.commands == durability.Commands{} && f.journal:
		return &durability.Plan{}, nil
	case f.after == 0 && f.commands == durability.Commands{}:
		return nil, nil
	case f.after == 0:
		return nil, usageError("--crash-after is missing: say when the server is to be killed, such as 5m, or how often, by --crash-cycles")
	case !commands && !f.hasOwn:
		return nil, usageError("%s needs --kill-command and --start-command, which kill the server and start it again", asked)
	case targets != 1:
		return nil, usageError("%s needs exactly one target, not %d", asked, targets)
	case f.cycles > 0 && f.after < minMeanCycle:
		return nil, usageError("--crash-after is %s: with --crash-cycles it must be at least %s", f.after, minMeanCycle)
	case f.cycles == 0 && length > 0 && f.after >= length:
		return nil, usageError("--crash-after is %s, and the run is over %s after the first orders", f.after, length)
	}
	plan := &durability.Plan{After: f.after, Cycles: f.cycles, Seed: seed, DeepEvery: f.deepEvery, Recovery: f.recovery, Server: f.commands}
	if f.own != nil {
		plan.Server = ownServer{f.own}
	}
	return plan, nil
}

// ends says whether a run ends after the last cut.
func (f *crashFlags) ends() bool { return f.cycles > 0 || f.replay > 0 }

// Bounds of the log that a replay test has the server redo.
const minReplay, maxReplay = 1e6, 1e12

// parseReplay reads the flags of a replay test.
func (f *crashFlags) parseReplay(targets int, seed uint64) (*durability.Plan, error) {
	switch {
	case f.replay == 0:
		return nil, usageError("--server-log needs --replay")
	case f.replay < minReplay || f.replay > maxReplay:
		return nil, usageError("--replay is %s: it must be 1MB to 1TB", bytesText(f.replay))
	case f.after > 0 || f.cycles > 0 || f.deepEvery > 0:
		return nil, usageError("--replay kills the server once, when there is this much log: leave out --crash-after, --crash-cycles and --deep-every")
	case !f.hasOwn && (f.commands.KillLine == "" || f.commands.StartLine == ""):
		return nil, usageError("--replay needs --kill-command and --start-command, which kill the server and start it again")
	case targets != 1:
		return nil, usageError("--replay needs exactly one target, not %d", targets)
	}
	if f.serverLog != "" {
		log, err := os.Open(f.serverLog)
		if err != nil {
			return nil, flagError("server-log", err)
		}
		log.Close()
	}
	plan := &durability.Plan{Cycles: 1, Seed: seed, Recovery: f.recovery, Server: f.commands, Replay: &durability.Replay{Bytes: f.replay, File: f.serverLog}}
	if f.own != nil {
		plan.Server, plan.Replay.File = ownServer{f.own}, f.own.LogFile()
	}
	return plan, nil
}

// tellReplay has a replay test say on stderr how much log has been written.
func tellReplay(plan *durability.Plan, quiet bool, stderr io.Writer) {
	if plan == nil || plan.Replay == nil || quiet {
		return
	}
	var e progress.Estimate
	var last time.Time
	plan.Replay.Tell = func(doing string, done, total int64) {
		e.Tell(doing, done, total)
		if time.Since(last) >= progressEvery {
			last = time.Now()
			fmt.Fprintln(stderr, "replay:", e.State().Text(bytesText))
		}
	}
}
