package main

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"ds2/internal/durability"
	"ds2/internal/localpg"
)

// crashFlags ask for a crash of the server in mid-run.
type crashFlags struct {
	after    time.Duration
	commands durability.Commands
	own      *localpg.Server // instead of commands; nil: none
}

// ownServer is a server of the kit's own, to be crashed.
type ownServer struct{ *localpg.Server }

func (s ownServer) Kill(context.Context) error {
	s.Server.Kill()
	return nil
}

func (s ownServer) Start(ctx context.Context) error { return s.Restart(ctx) }

func (f *crashFlags) add(flags *pflag.FlagSet) {
	flags.Var(durationValue{&f.after, time.Minute}, "crash-after", "kill the server this long after the first orders, start it again, and look for acknowledged purchases that it lost; needs --kill-command and --start-command")
	flags.StringVar(&f.commands.KillLine, "kill-command", "", "command line that kills the database server without warning, such as 'ssh db pkill -9 -x postgres' or one that cuts its power")
	flags.StringVar(&f.commands.StartLine, "start-command", "", "command line that starts it again")
}

// parse reads the flags for a run of a length, 0 where it has no end, against so many targets. No crash is nil.
func (f *crashFlags) parse(length time.Duration, targets int) (*durability.Crash, error) {
	commands := f.commands.KillLine != "" && f.commands.StartLine != ""
	switch {
	case f.after == 0 && f.commands == durability.Commands{}:
		return nil, nil
	case f.after == 0:
		return nil, usageError("--crash-after is missing: say when the server is to be killed, such as 5m")
	case !commands && f.own == nil:
		return nil, usageError("--crash-after needs --kill-command and --start-command, which kill the server and start it again")
	case targets != 1:
		return nil, usageError("--crash-after needs exactly one target, not %d", targets)
	case length > 0 && f.after >= length:
		return nil, usageError("--crash-after is %s, and the run is over %s after the first orders", f.after, length)
	}
	if f.own != nil {
		return &durability.Crash{After: f.after, Server: ownServer{f.own}}, nil
	}
	return &durability.Crash{After: f.after, Server: f.commands}, nil
}
