//go:build !linux

package monitor

import (
	"context"
	"os"
	"runtime"
)

// Other systems than Linux are observed through exporters only.

// Machine gives what Go itself knows of this computer.
func (fs FS) Machine([]string) Machine {
	m := Machine{System: runtime.GOOS, Processors: runtime.NumCPU()}
	m.Hostname, _ = os.Hostname()
	return m
}

func (fs FS) ownSources() ([]Source, error)                               { return nil, nil }
func (w *Observer) process(context.Context, *Instance, string) *Container { return nil }
func (w *Observer) thisMachine(context.Context, []File) error             { return nil }
