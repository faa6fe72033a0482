//go:build !linux

package monitor

import (
	"errors"
	"os"
	"runtime"
)

// Other systems than Linux are observed through exporters only; nothing here is reached but Machine.
var errLinuxOnly = errors.New("a machine is observed directly on Linux only: name its exporter")

// Machine gives what Go itself knows of this computer.
func (fs FS) Machine([]string) Machine {
	m := Machine{System: runtime.GOOS, Processors: runtime.NumCPU()}
	m.Hostname, _ = os.Hostname()
	return m
}

// serverProcess is a database server on this machine.
type serverProcess struct {
	Container
	pid int
}

func (s *serverProcess) sources(FS, string, string) []Source { return nil }
func (fs FS) findServer(int, string) (*serverProcess, error) { return nil, errLinuxOnly }
func (fs FS) ownThrottling() []Source                        { return nil }
func (fs FS) Find(string) (FileSystem, error)                { return FileSystem{}, errLinuxOnly }
func (fs FS) Drives() ([]string, error)                      { return nil, errLinuxOnly }
func (fs FS) Client() (Source, error)                        { return Source{}, errLinuxOnly }
func (fs FS) Counters([]string, map[string]flushing) (Source, error) {
	return Source{}, errLinuxOnly
}
