package process_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/process"
)

// TestFind finds this process by its number, name and age, and not by the age of another.
func TestFind(t *testing.T) {
	name, err := os.ReadFile("/proc/self/comm")
	require.NoError(t, err)
	program := strings.TrimSpace(string(name))
	pid, server, err := process.Find(process.Dir, os.Getpid(), program, 0)
	require.NoError(t, err)
	require.Equal(t, []int{os.Getpid(), os.Getpid()}, []int{pid, server})
	_, _, err = process.Find(process.Dir, os.Getpid(), program, 24*time.Hour)
	require.ErrorIs(t, err, process.ErrNone, "a process a day older")
	_, _, err = process.Find(process.Dir, os.Getpid(), "another", 0)
	require.ErrorIs(t, err, process.ErrNone, "another program")
	require.True(
		t,
		process.Runs("postmaster", "postgres") && !process.Runs("postmaster", "sqlservr"),
		"of RPMs",
	)
}

// TestFindListening finds, as SQL Server on Linux is found, the parent of two processes of one name
// by a port on which their network has a listener.
func TestFindListening(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	port := uint64(listener.Addr().(*net.TCPAddr).Port)
	// A shell under a separate name, whose child is a shell of that name, too; both end with their
	// input.
	program := filepath.Join(t.TempDir(), "ds2-sqlservr")
	require.NoError(t, os.Symlink("/bin/sh", program))
	parent := exec.Command(program, "-c", program+` -c 'echo $$; read end'; read end`)
	input, err := parent.StdinPipe()
	require.NoError(t, err)
	output, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	defer func() { input.Close(); parent.Wait() }()
	child := 0
	_, err = fmt.Fscan(output, &child)
	require.NoError(t, err)
	server, err := process.FindListening(process.Dir, port, "ds2-sqlservr", 0)
	require.NoError(t, err)
	require.Equal(t, parent.Process.Pid, server)
	pid, server, err := process.Find(process.Dir, child, "ds2-sqlservr", 0)
	require.NoError(t, err)
	require.Equal(t, []int{child, parent.Process.Pid}, []int{pid, server})
	_, err = process.FindListening(process.Dir, port, "ds2-sqlservr", time.Hour)
	require.ErrorIs(t, err, process.ErrNone, "an hour older")
	listener.Close()
	_, err = process.FindListening(process.Dir, port, "ds2-sqlservr", 0)
	require.ErrorIs(t, err, process.ErrNone, "nothing listens")
}
