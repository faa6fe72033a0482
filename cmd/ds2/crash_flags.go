package main

import (
	"cmp"
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
	flags.Var(duration(&f.after), "crash-after", "kill the server this long after the first orders, start it again, "+
		"and look for acknowledged work that it lost; "+
		"with --crash-cycles, the mean time before each kill (default 10s)")
	flags.IntVar(&f.cycles, "crash-cycles", 0, "kill the server this often at random times, some in checkpoints and "+
		"some in bursts of commits, look for losses after each, and end the run after the last")
	flags.Var(byteSize(&f.replay), "replay", "replay test: run until this much log was written since the last "+
		"checkpoint, such as 500MB, kill the server, start it, report how long the redo took, and end the run")
	flags.IntVar(&f.deepEvery, "deep-every", 0, "with --crash-cycles, check every page after each so many kills; "+
		"0 = never")
}

func (f *crashFlags) add(flags *pflag.FlagSet) {
	f.addShared(flags)
	flags.StringVar(&f.commands.KillLine, "kill-command", "", "command that kills the database server, such as 'ssh "+
		"db pkill -9 -x postgres', or cuts its power")
	flags.StringVar(&f.commands.StartLine, "start-command", "", "command that starts the server again")
	flags.Var(duration(&f.recovery), "recovery-timeout", "with --crash-cycles or --replay, how long the server may "+
		"take to answer after the start command; 0 = no limit")
	flags.StringVar(&f.serverLog, "server-log", "", "with --replay, file of the server's log on this machine "+
		"(default: read through the server)")
	flags.BoolVar(&f.journal, "journal", false, "keep a journal of what the server acknowledges, on driver machines "+
		"other than the one with --crash-cycles; ds2 verify compares all journals")
}

// Bounds of what crash flags can mean.
const (
	maxCycles            = 100_000
	meanCycle            = 10 * time.Second // by default
	minMeanCycle         = 100 * time.Millisecond
	minReplay, maxReplay = 1e6, 1e12 // bytes of log
)

// parse reads the flags for a run of a length, 0 where it has no end, against so many targets. No crash is nil.
func (f *crashFlags) parse(length time.Duration, targets int, seed uint64) (*durability.Plan, error) {
	replay, cycles, commands := f.replay > 0 || f.serverLog != "", f.cycles > 0, f.commands
	asked := "--crash-after"
	switch {
	case replay && f.replay == 0:
		return nil, usageError("--server-log needs --replay")
	case replay && (f.replay < minReplay || f.replay > maxReplay):
		return nil, usageError("--replay is %s: it must be 1MB to 1TB", bytesText(f.replay))
	case replay && (f.after > 0 || cycles || f.deepEvery > 0):
		return nil, usageError("--replay kills the server once, when there is this much log: " +
			"leave out --crash-after, --crash-cycles and --deep-every")
	case replay:
		asked = "--replay"
	case cycles:
		asked, f.after = "--crash-cycles", cmp.Or(f.after, meanCycle)
	}
	switch {
	case f.cycles < 0 || f.cycles > maxCycles:
		return nil, usageError("--crash-cycles is %d: it must be 0 to %d", f.cycles, maxCycles)
	case f.deepEvery < 0:
		return nil, usageError("--deep-every is %d: it must be 0 or more", f.deepEvery)
	case f.deepEvery > 0 && !cycles:
		return nil, usageError("--deep-every needs --crash-cycles")
	case f.recovery > 0 && !cycles && !replay:
		return nil, usageError("--recovery-timeout needs --crash-cycles or --replay and must be 0 or more")
	case !replay && f.after == 0 && commands == durability.Commands{} && f.journal:
		return &durability.Plan{}, nil
	case !replay && f.after == 0 && commands == durability.Commands{}:
		return nil, nil
	case !replay && f.after == 0:
		return nil, usageError("--crash-after is missing: say when the server is to be killed, such as 5m, " +
			"or how often, by --crash-cycles")
	case !f.hasOwn && (commands.KillLine == "" || commands.StartLine == ""):
		return nil, usageError("%s needs --kill-command and --start-command, "+
			"which kill the server and start it again", asked)
	case targets != 1:
		return nil, usageError("%s needs exactly one target, not %d", asked, targets)
	case cycles && f.after < minMeanCycle:
		return nil, usageError("--crash-after is %s: with --crash-cycles it must be at least %s", f.after, minMeanCycle)
	case !cycles && length > 0 && f.after >= length:
		return nil, usageError("--crash-after is %s, and the run is over %s after the first orders", f.after, length)
	}
	plan := &durability.Plan{
		After: f.after, Cycles: f.cycles, Seed: seed, DeepEvery: f.deepEvery, Recovery: f.recovery, Server: commands,
	}
	if replay {
		plan.Cycles, plan.Replay = 1, &durability.Replay{Bytes: f.replay, File: f.serverLog}
	}
	if f.serverLog != "" {
		log, err := os.Open(f.serverLog)
		if err != nil {
			return nil, flagError("server-log", err)
		}
		log.Close()
	}
	if f.own != nil {
		plan.Server = ownServer{f.own}
		if replay {
			plan.Replay.File = f.own.LogFile()
		}
	}
	return plan, nil
}

// ends says whether a run ends after the last cut.
func (f *crashFlags) ends() bool { return f.cycles > 0 || f.replay > 0 }

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
