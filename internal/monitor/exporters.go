package monitor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/topology"
)

// openExporters opens the exporters of the machines under test, which then stand in the record as
// one machine. Those that tell of volumes only are of none.
func (w *Observer) openExporters(ctx context.Context) error {
	fail := func(err error) error { return &OptionError{"exporter", err} }
	var all []*sampling.Exporter
	for _, address := range w.o.Exporters {
		e, err := sampling.OpenExporter(ctx, address)
		if err != nil {
			return fail(err)
		}
		if slices.ContainsFunc(all, func(other *sampling.Exporter) bool {
			return other.Name == e.Name && other.OfMachine() == e.OfMachine()
		}) {
			return fail(fmt.Errorf("%s is given twice", e.Name))
		}
		all = append(all, e)
		if e.OfMachine() {
			w.exporters = append(w.exporters, e)
		}
	}
	w.noteSameHost()
	for _, e := range w.exporters {
		if err := w.addMachine(ctx, e); err != nil {
			return err
		}
	}
	for _, e := range all {
		var drives []topology.Drive
		if w.Machine != nil {
			drives = w.Machine.Drives
		}
		if src, told := e.Caps(drives); told {
			w.Sources = append(w.Sources, src)
		}
	}
	return nil
}

// noteSameHost says which exporters may be of one machine.
func (w *Observer) noteSameHost() {
	for i, e := range w.exporters {
		same := func(o *sampling.Exporter) bool { return o.Machine.Hostname == e.Machine.Hostname }
		first := slices.IndexFunc(w.exporters[:i], same)
		if first >= 0 && e.Machine.Hostname != "" {
			w.addNote(
				"the exporters %s and %s are both of a machine %s: if it is one, its drives, "+
					"CPUs and memory count twice",
				w.exporters[first].Name,
				e.Name,
				e.Machine.Hostname,
			)
		}
	}
}

// addMachine has the machine of an exporter sampled.
func (w *Observer) addMachine(ctx context.Context, e *sampling.Exporter) error {
	several := len(w.exporters) > 1
	devices := w.devices
	if len(devices) == 0 {
		devices = e.Named()
	}
	drives := e.Drives(devices, w.rolesOn(e))
	src, err := e.Source(devices, several, w.withoutJournals(drives))
	if err != nil {
		return &OptionError{"devices", err}
	}
	if err := w.addCounters(ctx, drives, src); err != nil {
		return &OptionError{"exporter", err}
	}
	if w.Machine == nil {
		w.Machine = new(e.Machine)
	} else {
		w.Machine.Hostname += ", " + e.Machine.Hostname
		w.Machine.Processors += e.Machine.Processors
		w.Machine.MemoryBytes += e.Machine.MemoryBytes
	}
	for _, drive := range drives {
		if several {
			drive.Name = e.Item(drive.Name)
			drive.Machine = e.Name
		}
		w.Machine.Drives = append(w.Machine.Drives, drive)
	}
	return nil
}

// rolesOn are the roles of the drives of an exporter's machine: as the user has them, or else as
// the exporter tells which drives the files of its servers lie on.
func (w *Observer) rolesOn(e *sampling.Exporter) map[string][]topology.Role {
	roles := maps.Clone(w.roles)
	for i, t := range w.targets {
		if !w.showsMachineOf(t, e) {
			continue
		}
		for _, file := range w.Servers[i].Files {
			for _, drive := range e.DrivesOf(file.Path) {
				given := w.roles[drive]
				if len(given) == 0 && !slices.Contains(roles[drive], file.Role) {
					roles[drive] = append(roles[drive], file.Role)
				}
			}
		}
		if limits := e.Container(); limits != (topology.Container{}) &&
			w.Servers[i].Container == nil {
			w.Servers[i].Container = &limits
		}
	}
	return roles
}

// exporterOf is the exporter of a target's machine; nil where none is known to be.
func (w *Observer) exporterOf(t store.Database) *sampling.Exporter {
	for _, e := range w.exporters {
		if w.showsMachineOf(t, e) {
			return e
		}
	}
	return nil
}

// showsMachineOf says whether an exporter is that of a target's machine. That of all targets, where
// they are on one, may have another name.
func (w *Observer) showsMachineOf(t store.Database, e *sampling.Exporter) bool {
	host := topology.HostOf(t.Label())
	elsewhere := func(other store.Database) bool {
		return !strings.EqualFold(topology.HostOf(other.Label()), host)
	}
	return strings.EqualFold(e.URL.Hostname(), host) ||
		len(w.exporters) == 1 && !slices.ContainsFunc(w.targets, elsewhere)
}

// noteWithoutExporter says which targets' machines no exporter shows.
func (w *Observer) noteWithoutExporter() {
	for _, t := range w.targets {
		if w.exporterOf(t) == nil {
			w.addNote("the machine of %s is not observed: give its exporter, too", t.Label())
		}
	}
}
