package monitor

import (
	"context"
	"maps"
	"slices"
)

// process finds a server's process on this machine, and opens the counters of it and of its container, which is nil
// where it may use all of the machine.
func (w *Observer) process(ctx context.Context, s *Instance, item string) *Container {
	var pid int
	var held limits
	err := FindProcess(ctx, s.Databases[0], Root.Proc, func(found int, program string) (err error) {
		pid = Root.server(found, program)
		held, err = Root.limits(pid)
		return err
	})
	if err != nil {
		w.note("what the server %s takes of this machine is not observed: %v", s.Name, err)
		return nil
	}
	w.serverProcesses = append(w.serverProcesses, pid)
	w.Sources = append(w.Sources, Root.serverSources(pid, held, item, s.Name)...)
	if held.Container == (Container{}) {
		return nil
	}
	return &held.Container
}

// thisMachine opens the counters of the machine that ds2 runs on, on which the database files named lie.
func (w *Observer) thisMachine(ctx context.Context, files []File) error {
	w.Local = true
	devices := slices.Clone(w.devices)
	var fileSystem *FileSystem
	roles := map[string][]Role{} // by device
	for i, file := range files {
		found, err := Root.Find(file.Path)
		if err != nil {
			w.note("%v", err)
			continue
		}
		if i == 0 {
			fileSystem = &found
		}
		if len(w.devices) == 0 {
			devices = append(devices, found.Devices...)
		}
		for _, device := range found.Devices {
			if !slices.Contains(roles[device], file.Role) {
				roles[device] = append(roles[device], file.Role)
			}
		}
	}
	slices.Sort(devices)
	devices = slices.Compact(devices)
	if len(devices) == 0 {
		var err error
		if devices, err = Root.Drives(); err != nil {
			return err
		}
	}
	machine := Root.Machine(devices)
	maps.Copy(roles, w.roles) // the user knows better
	for i := range machine.Drives {
		machine.Drives[i].Roles = roles[machine.Drives[i].Name]
	}
	machine.FileSystem = fileSystem
	w.Machine = &machine
	flushes := map[string]flushing{}
	for _, d := range devices {
		flushes[d] = w.withoutJournals(roles[d])
	}
	counters, err := Root.Counters(devices, flushes)
	if err != nil {
		return &OptionError{"devices", err}
	}
	if err := w.noteUncounted(ctx, machine.Drives, counters); err != nil {
		return err
	}
	w.Sources = append(w.Sources, counters)
	return nil
}
