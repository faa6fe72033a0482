package monitor

import (
	"errors"
	"os"
	"path/filepath"

	"ds2/internal/iotrace"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// traceIO begins to trace the I/Os of servers. What is missing for it does not make the run worse.
func traceIO(m machines, s servers) (*sampling.IOTrace, error) {
	if m.machine == nil || !m.local || len(m.exporters.all) > 0 {
		return nil, errors.New(
			"that is done where ds2 runs on the database's machine and observes it itself")
	}
	var directories []iotrace.Directory
	for _, file := range filesHere(s.targets) { // data before log, which may lie below it
		// Directories are told by their inodes, so by any path that leads this process to them.
		path, err := topology.Root.Reach(file.Process, file.Path)
		if err != nil {
			path = file.Path
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			path = filepath.Dir(path)
		}
		directories = append(directories,
			iotrace.Directory{Path: path, Log: file.Role == topology.Log})
	}
	return sampling.OpenIOTrace(m.machine.DriveNames(), directories, s.processes)
}

// Close ends what is observed only as long as it is used: the tracing of I/Os. A nil Observer has
// none.
func (w *Observer) Close() {
	if w != nil && w.IOTrace != nil {
		w.IOTrace.Close()
	}
}
