// Package shell runs the command lines that users give: a meter's, a restore, the kill and the start of a server.
package shell

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// Run runs a line by sh, in a process group of its own, and returns when sh has ended. When ctx ends first, all of the group is
// killed. What the line leaves running in the background goes on. Its output goes to an *os.File directly; to any other
// writer only until a second after sh has ended.
func Run(ctx context.Context, line string, stdout, stderr io.Writer) error {
	c := exec.CommandContext(ctx, "sh", "-c", line)
	c.Stdout, c.Stderr = stdout, stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	err := c.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}
