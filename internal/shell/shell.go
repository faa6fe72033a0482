// Package shell runs the command lines that users give: a meter's, a restore, the kill and the
// start of a server.
package shell

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

// Run runs a line by sh, on Windows by cmd, and returns when that has ended. When ctx ends first,
// all that it started is killed. What the line leaves running in the background goes on. Its output
// goes to an *os.File directly; to any other writer only until a second after its end.
func Run(ctx context.Context, line string, stdout, stderr io.Writer) error {
	c := command(ctx, line)
	c.Stdout = stdout
	c.Stderr = stderr
	c.WaitDelay = time.Second
	err := c.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}
