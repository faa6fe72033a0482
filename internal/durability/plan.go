package durability

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/shell"
)

// Plan is when a run's server is cut off, and how often.
type Plan struct {
	// After is when the one cut comes, since the first orders; with Cycles it is the mean time of orders before each.
	After  time.Duration
	Cycles int    // how many cuts at random times, after which the run ends; 0: one cut, and the run goes on to its end
	Seed   uint64 // of the random times

	DeepEvery int           // after every so many cuts each page is read and checked; 0: never
	Recovery  time.Duration // how long the server may take to come back; 0: as long as it likes
	Server    Server

	Replay *Replay // the cut comes when enough log stands, and its recovery is measured; Cycles is 1 then; nil: none
}

// String names the plan in a log.
func (p Plan) String() string {
	if p.Replay != nil {
		return fmt.Sprintf("a cut at %.0f MB of log", float64(p.Replay.Bytes)/1e6)
	}
	if p.Cycles == 0 {
		return fmt.Sprintf("a cut after %s", p.After)
	}
	return fmt.Sprintf("%d cuts, every %s on average", p.Cycles, p.After)
}

// Conclude adds up cuts.
func (p Plan) Conclude(cuts []result.Cut) *result.Cuts {
	all := &result.Cuts{Planned: max(p.Cycles, 1), Mean: p.After.Seconds(), DeepEvery: p.DeepEvery, Cuts: cuts, To: 1}
	for _, c := range cuts {
		all.Acknowledged += c.Acknowledged
		all.Lost += c.Lost
		switch {
		case c.Lossy():
			all.Lossy++
		case c.Acknowledged == 0:
			all.Idle++
		}
	}
	if n := len(cuts) - all.Idle; n > 0 {
		all.From, all.To = share(all.Lossy, n)
	}
	return all
}

// share gives the bounds, 0 to 1, of the probability of something that came about in k of n tries, by Clopper and
// Pearson. Each is one-sided and holds at 95 % by itself, whatever comes about: were it one-sided only where nothing
// was lost, it would hold in fewer. For none of n the upper is 1-0.05^(1/n), which is about 3/n.
func share(k, n int) (from, to float64) { return measure.ClopperPearson(float64(k), float64(n), 0.05) }

// Server is a database server that can be crashed.
type Server interface {
	// Kill ends the server without warning, so that it can save nothing.
	Kill(ctx context.Context) error
	// Start starts it again. It may return before the server takes connections.
	Start(ctx context.Context) error
}

// Commands is a server that two command lines of the shell kill and start.
type Commands struct{ KillLine, StartLine string }

// Kill runs the command that kills.
func (c Commands) Kill(ctx context.Context) error { return run(ctx, "kill", c.KillLine) }

// Start runs the command that starts.
func (c Commands) Start(ctx context.Context) error { return run(ctx, "start", c.StartLine) }

// run runs a command line. What it says goes to a file, not to a pipe: a server that it leaves running in the
// background may keep that open, and nobody is to wait for the server's end.
func run(ctx context.Context, verb, line string) error {
	out, err := os.CreateTemp("", "ds2-"+verb+"-")
	if err != nil {
		return fmt.Errorf("%s the server: %w", verb, err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	if err := shell.Run(ctx, line, out, out); err != nil {
		said, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%s the server: %s: %w\n%s", verb, line, err, strings.TrimSpace(string(said)))
	}
	return nil
}
