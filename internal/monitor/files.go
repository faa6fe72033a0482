package monitor

import (
	"context"

	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// fileCounters are what servers count of their files themselves.
type fileCounters struct {
	seen
	files    []topology.DatabaseFile
	asDrives bool // the drives are not observed, so the files stand for them
}

// findFileCounters opens what the targets' servers count of their files.
func findFileCounters(ctx context.Context, targets []target, asDrives bool) (all fileCounters) {
	all.asDrives = asDrives
	for _, t := range targets {
		if t.fileCounters == "" {
			continue
		}
		src, files, err := sampling.Files(ctx, t.DB(), t.Label(), t.item, asDrives, t.fileCounters)
		if err != nil {
			problem := t.Wrap("read", err)
			all.note("no counters of the database's files: %v", problem)
			continue
		}
		if asDrives {
			all.note("the drives are judged by what %s counted of its files", t.Label())
		}
		all.files = append(all.files, files...)
		all.sources = append(all.sources, src)
	}
	return all
}

// joinMachine is a machine with the files, and with them as its drives where these are not
// observed; nil where nothing is known of it either.
func (f fileCounters) joinMachine(machine *topology.Machine) *topology.Machine {
	if len(f.sources) == 0 {
		return machine
	}
	joined := topology.Machine{}
	if machine != nil {
		joined = *machine
	}
	joined.Files = f.files
	for _, file := range f.files {
		if f.asDrives {
			drive := topology.Drive{Name: file.Name, File: true, Roles: []topology.Role{file.Role}}
			joined.Drives = append(joined.Drives, drive)
		}
	}
	return &joined
}
