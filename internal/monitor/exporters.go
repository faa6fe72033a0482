package monitor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// exporters are those of machines under test, with the targets.
type exporters struct {
	all     []*sampling.Exporter
	targets []target
}

// of is the exporter of a target's machine; nil where none is known to be.
func (x exporters) of(t target) *sampling.Exporter {
	for _, e := range x.all {
		if x.showsMachineOf(t, e) {
			return e
		}
	}
	return nil
}

// containerOf is that of a target's server, as seen here or else as its machine's exporter tells;
// nil where it may use all of the machine.
func (x exporters) containerOf(t target) *topology.Container {
	e := x.of(t)
	if e == nil || t.Container != nil {
		return t.Container
	}
	if limits := e.Container(); limits != (topology.Container{}) {
		return &limits
	}
	return nil
}

// showsMachineOf says whether an exporter is that of a target's machine. That of all targets, where
// they are on one, may have another name.
func (x exporters) showsMachineOf(t target, e *sampling.Exporter) bool {
	host := topology.HostOf(t.Label())
	elsewhere := func(other target) bool {
		return !strings.EqualFold(topology.HostOf(other.Label()), host)
	}
	return strings.EqualFold(e.URL.Hostname(), host) ||
		len(x.all) == 1 && !slices.ContainsFunc(x.targets, elsewhere)
}

// findExporters opens the exporters of the machines under test, which then stand in the record as
// one machine. Those that tell of volumes only are of none.
func findExporters(
	ctx context.Context,
	addresses []string,
	targets []target,
	named devices,
) (all machines, err error) {
	opened, err := openExporters(ctx, addresses)
	if err != nil {
		return all, &OptionError{"exporter", err}
	}
	all.exporters.targets = targets
	for _, e := range opened {
		if e.OfMachine() {
			all.exporters.all = append(all.exporters.all, e)
		}
	}
	all.noteSameHost()
	for _, e := range all.exporters.all {
		found, err := findMachine(ctx, e, all.exporters, named)
		if err != nil {
			return all, err
		}
		all.add(found.seen)
		all.machine = joinMachines(all.machine, found.machine)
	}
	machine := cmp.Or(all.machine, new(topology.Machine)) // of volumes alone, none is known
	for _, e := range opened {
		all.sources = append(all.sources, e.Caps(machine.Drives)...)
	}
	for _, t := range targets {
		if all.exporters.of(t) == nil {
			all.note("the machine of %s is not observed: give its exporter, too", t.Label())
		}
	}
	return all, nil
}

// openExporters asks exporters, each of which may be given once.
func openExporters(ctx context.Context, addresses []string) (all []*sampling.Exporter, err error) {
	for _, address := range addresses {
		e, err := sampling.OpenExporter(ctx, address)
		if err != nil {
			return nil, err
		}
		same := func(o *sampling.Exporter) bool {
			return o.Name == e.Name && o.OfMachine() == e.OfMachine()
		}
		if slices.ContainsFunc(all, same) {
			return nil, fmt.Errorf("%s is given twice", e.Name)
		}
		all = append(all, e)
	}
	return all, nil
}

// noteSameHost says which exporters may be of one machine.
func (m *machines) noteSameHost() {
	exporters := m.exporters.all
	for i, e := range exporters {
		same := func(o *sampling.Exporter) bool { return o.Machine.Hostname == e.Machine.Hostname }
		first := slices.IndexFunc(exporters[:i], same)
		if first >= 0 && e.Machine.Hostname != "" {
			m.note("the exporters %s and %s are both of a machine %s: if it is one, its drives, "+
				"CPUs and memory count twice", exporters[first].Name, e.Name, e.Machine.Hostname)
		}
	}
}

// findMachine opens the counters of the machine of an exporter, one of some.
func findMachine(
	ctx context.Context,
	e *sampling.Exporter,
	among exporters,
	named devices,
) (found machines, err error) {
	several := len(among.all) > 1
	devices := named.names
	if len(devices) == 0 {
		devices = e.Named()
	}
	drives := e.Drives(devices, among.rolesOn(e, named.roles))
	src, err := e.Source(devices, several, withoutJournals(among.targets, drives))
	if err != nil {
		return found, &OptionError{"devices", err}
	}
	if err = found.markUncounted(ctx, drives, src); err != nil {
		return found, &OptionError{"exporter", err}
	}
	for i, drive := range drives {
		if several {
			drives[i].Name = e.Item(drive.Name)
			drives[i].Machine = e.Name
		}
	}
	found.sources = []sampling.Source{src}
	found.machine = new(e.Machine)
	found.machine.Drives = drives
	return found, nil
}

// joinMachines is two machines as one; the first may be nil.
func joinMachines(one, other *topology.Machine) *topology.Machine {
	if one == nil {
		return other
	}
	joined := *one
	joined.Hostname += ", " + other.Hostname
	joined.Processors += other.Processors
	joined.MemoryBytes += other.MemoryBytes
	joined.Drives = slices.Concat(one.Drives, other.Drives)
	return &joined
}

// rolesOn are the roles of the drives of an exporter's machine: as the user has them, or else as
// the exporter tells which drives the files of its servers lie on.
func (x exporters) rolesOn(
	e *sampling.Exporter,
	given map[string][]topology.Role,
) map[string][]topology.Role {
	roles := maps.Clone(given)
	for _, t := range x.targets {
		if !x.showsMachineOf(t, e) {
			continue
		}
		for _, file := range t.Files {
			for _, drive := range e.DrivesOf(file.Path) {
				if len(given[drive]) == 0 && !slices.Contains(roles[drive], file.Role) {
					roles[drive] = append(roles[drive], file.Role)
				}
			}
		}
	}
	return roles
}
