// Package process finds a database server's process among those of this machine. What the process
// takes is for package sampling to say.
package process

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
)

// Dir is where Linux shows its processes.
const Dir = "/proc"

// ErrNone says that a process is none of those seen here.
var ErrNone = errors.New("server process not found on this machine")

// tolerance is by how much a server may be wrong about the age of its process: SQL Server tells
// that of its database tempdb.
const tolerance = 30 * time.Second

// Find finds a process in dir, such as Dir, by the number that its own container gives it, the name
// of its program and its age. The age tells it from one of the same number of another machine or
// container, whose server lies behind a tunnel. Its server is the process whose child it is, where
// that runs the program too, or else itself.
func Find(dir string, inside int, program string, age time.Duration) (pid, server int, err error) {
	return findProcess(dir, program, age, func(p procfs.Proc) bool {
		status, err := p.NewStatus()
		number := p.PID
		if n := len(status.NSpids); n > 0 {
			number = int(status.NSpids[n-1])
		}
		return err == nil && number == inside
	})
}

// FindListening finds a server that does not know its number, as SQL Server on Linux: its network
// has a listener on the server's port.
func FindListening(
	dir string,
	port uint64,
	program string,
	age time.Duration,
) (server int, err error) {
	_, server, err = findProcess(dir, program, age, func(p procfs.Proc) bool {
		return listensOn(dir, p.PID, port)
	})
	return server, err
}

// programs are those that packages start under another name, as Red Hat's do PostgreSQL.
var programs = map[string]string{"postmaster": "postgres"}

// Runs says whether a process of a name runs a program.
func Runs(name, program string) bool { return cmp.Or(programs[name], name) == program }

func findProcess(
	dir, program string,
	age time.Duration,
	itIs func(procfs.Proc) bool,
) (pid, server int, err error) {
	fs, err := procfs.NewFS(dir)
	if err != nil {
		return 0, 0, err
	}
	all, err := fs.AllProcs()
	if err != nil {
		return 0, 0, err
	}
	named := map[int]bool{}  // those that run the program
	parents := map[int]int{} // of those that may be it
	for _, p := range all {
		name, err := p.Comm()
		if err != nil || !Runs(name, program) {
			continue
		}
		named[p.PID] = true
		stat, err := p.Stat()
		if err != nil || !itIs(p) {
			continue
		}
		started, err := stat.StartTime()
		own := time.Since(time.UnixMilli(int64(started * 1000)))
		if err == nil && (own-age).Abs() < tolerance {
			parents[p.PID] = stat.PPID
		}
	}
	for found, parent := range parents {
		if !named[parent] {
			parent = found
		}
		if pid != 0 && server != parent {
			return 0, 0, fmt.Errorf("processes %d and %d may both be its own", pid, found)
		}
		pid = found
		server = parent
	}
	if pid == 0 {
		return 0, 0, ErrNone
	}
	return pid, server, nil
}

// listensOn tells whether a process's network has a listener on a port.
func listensOn(dir string, pid int, port uint64) bool {
	own, err := procfs.NewFS(filepath.Join(dir, strconv.Itoa(pid)))
	if err != nil {
		return false
	}
	const listening = 10
	//nolint:staticcheck // netlink, its successor, knows ds2's own network alone, not a process's
	for _, sockets := range []func() (procfs.NetTCP, error){own.NetTCP, own.NetTCP6} {
		all, _ := sockets() // a machine may have one of the two alone
		for _, socket := range all {
			if socket.St == listening && socket.LocalPort == port {
				return true
			}
		}
	}
	return false
}
