package shell

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"
)

// command is a line for cmd, which takes it as it stands: Go's quoting of arguments is not the one
// that cmd reads.
func command(ctx context.Context, line string) *exec.Cmd {
	c := exec.CommandContext(ctx, "cmd")
	c.SysProcAttr = &syscall.SysProcAttr{
		CmdLine: `cmd /S /C "` + line + `"`, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP,
	}
	c.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(c.Process.Pid)).Run()
	}
	return c
}
