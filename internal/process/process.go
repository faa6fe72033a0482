// Package process finds a database server's process among those of this machine. What the process takes is for package monitor
// to say.
package process

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/procfs"
)

// Dir is where Linux shows its processes.
const Dir = "/proc"

// ErrNone says that a process is none of those seen here.
var ErrNone = errors.New("its process cannot be seen from here")

// tolerance is by how much a server may be wrong about the age of its process: SQL Server tells that of its database tempdb.
const tolerance = 30 * time.Second

// Find finds a process in dir, such as Dir, by the number that its own container gives it, the name of its program and its age. The
// age tells it from one of the same number of another machine or container, whose server lies behind a tunnel.
func Find(dir string, inside int, program string, age time.Duration) (pid int, err error) {
	fs, err := procfs.NewFS(dir)
	if err != nil {
		return 0, err
	}
	all, err := fs.AllProcs()
	if err != nil {
		return 0, err
	}
	for _, p := range all {
		if name, err := p.Comm(); err != nil || name != program {
			continue
		}
		status, err := p.NewStatus()
		number := p.PID
		if n := len(status.NSpids); n > 0 {
			number = int(status.NSpids[n-1])
		}
		if err != nil || number != inside || !hasAge(p, age) {
			continue
		}
		if pid != 0 {
			return 0, fmt.Errorf("processes %d and %d may both be its own", pid, p.PID)
		}
		pid = p.PID
	}
	if pid == 0 {
		return 0, ErrNone
	}
	return pid, nil
}

func hasAge(p procfs.Proc, age time.Duration) bool {
	stat, err := p.Stat()
	if err != nil {
		return false
	}
	started, err := stat.StartTime()
	if err != nil {
		return false
	}
	now := float64(time.Now().UnixMilli()) / 1000
	own := time.Duration((now - started) * float64(time.Second))
	return (own - age).Abs() < tolerance
}
