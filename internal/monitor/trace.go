package monitor

import (
	"os"
	"path/filepath"

	"ds2/internal/iotrace"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// traceIO begins to trace, where that was asked for. What is missing for it is a note: the run is
// none the worse.
func (w *Observer) traceIO(files []topology.File) {
	if !w.o.IOTrace {
		return
	}
	if w.Machine == nil || !w.Local || len(w.exporters) > 0 {
		w.addNote(
			"I/Os are not traced: that is done where ds2 runs on the database's machine and observes it itself",
		)
		return
	}
	var drives []string
	for _, d := range w.Machine.Drives {
		drives = append(drives, d.Name)
	}
	var directories []iotrace.Directory
	for _, file := range files { // data before log, which may lie below it
		path, err := topology.Root.Reach(file.Process, file.Path)
		if err != nil {
			path = file.Path
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			path = filepath.Dir(path)
		}
		directories = append(
			directories,
			iotrace.Directory{Path: path, Log: file.Role == topology.Log},
		)
	}
	var err error
	if w.IOTrace, err = sampling.OpenIOTrace(drives, directories, w.serverProcesses); err != nil {
		w.addNote("I/Os are not traced: %v", err)
		return
	}
	w.Sources = append(w.Sources, w.IOTrace.Source())
}

// Close ends what is observed only as long as it is used: the tracing of I/Os. A nil Observer has
// none.
func (w *Observer) Close() {
	if w != nil && w.IOTrace != nil {
		w.IOTrace.Close()
	}
}
