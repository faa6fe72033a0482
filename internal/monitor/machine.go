package monitor

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"

	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// machines are what was found of the machines under test.
type machines struct {
	seen
	machine   *topology.Machine // as one; nil where nothing is known of it
	exporters exporters         // that show them; none: ds2 does
	local     bool              // ds2 runs on it
}

// findMachines opens the counters of the machines of the targets, and finds the drives below their
// files.
func findMachines(
	ctx context.Context,
	targets []target,
	named devices,
	addresses []string,
) (found machines, err error) {
	// Those who name drives may know of a server here whose process and files cannot be seen from
	// this container.
	local := slices.ContainsFunc(targets, func(t target) bool {
		return t.here || len(named.names) > 0 && topology.IsLocal(topology.HostOf(t.Label()))
	})
	switch {
	case len(addresses) > 0:
		found, err = findExporters(ctx, addresses, targets, named)
		all := found.exporters.all
		found.local = len(all) == 1 && local && topology.IsLocal(all[0].URL.Hostname())
		return found, err
	case local && runtime.GOOS == "linux":
		return findThisMachine(ctx, targets, named)
	case len(named.names) > 0:
		return found, &OptionError{"devices", errors.New("the targets are not on this " +
			"machine, or it does not run Linux; give the URL of the exporter on their machine")}
	}
	found.note("the databases' machine is not observed: it is another one, " +
		"or does not run Linux, and no exporter is given")
	return found, nil
}

// filesHere are those of the targets on this machine.
func filesHere(targets []target) (files []topology.File) {
	for _, t := range targets {
		if t.here {
			files = append(files, t.Files...)
		}
	}
	return files
}

// findThisMachine opens the counters of the machine that ds2 runs on.
func findThisMachine(
	ctx context.Context,
	targets []target,
	named devices,
) (all machines, err error) {
	all.local = true
	drives := slices.Clone(named.names)
	var fileSystem *topology.FileSystem
	roles := map[string][]topology.Role{} // by device
	var volumes []string
	for i, file := range filesHere(targets) {
		found, err := topology.Root.FindOf(file)
		if err != nil {
			all.found = append(all.found, Found{DrivesUnknown, file.Path, err.Error()})
			continue
		}
		if i == 0 {
			fileSystem = &found
		}
		if len(named.names) == 0 {
			drives = append(drives, found.Devices...)
		}
		volumes = append(volumes, found.Volumes...)
		for _, device := range slices.Concat(found.Devices, found.Volumes) {
			if !slices.Contains(roles[device], file.Role) {
				roles[device] = append(roles[device], file.Role)
			}
		}
		all.found = append(all.found, holdDevices(named, file, found)...)
	}
	slices.Sort(drives)
	drives = slices.Compact(drives)
	if len(drives) == 0 {
		if drives, err = topology.Root.Drives(); err != nil {
			return all, err
		}
	}
	machine := topology.Root.Machine(drives)
	maps.Copy(roles, named.roles) // the user knows better
	machine.FileSystem = fileSystem
	machine.Volumes = topology.Root.VolumesOver(volumes, machine.Drives)
	for _, devices := range [][]topology.Drive{machine.Drives, machine.Volumes} {
		for i, d := range devices {
			devices[i].Roles = roles[d.Name]
		}
	}
	all.machine = &machine
	journals := withoutJournals(targets, machine.Drives)
	counters, err := sampling.MachineCounters(topology.Root, drives, journals)
	if err != nil {
		return all, &OptionError{"devices", err}
	}
	if len(machine.Volumes) > 0 {
		volumes, err := sampling.VolumeCounters(topology.Root, machine.Volumes)
		if err != nil {
			return all, err
		}
		all.sources = append(all.sources, volumes)
	}
	all.sources = append(all.sources, sampling.Caps(machine.Drives)...)
	all.sources = append(all.sources, counters)
	return all, all.markUncounted(ctx, machine.Drives, counters)
}
