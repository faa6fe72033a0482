package durability

import (
	"context"
	"fmt"
	"os"
	"strings"

	"ds2/internal/shell"
)

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
