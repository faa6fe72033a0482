package monitor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"ds2/internal/process"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/topology"
)

// observeServer asks a server about itself and its databases, and opens their counters. What all
// databases share, such as the log, is read through the first.
func (w *Observer) observeServer(ctx context.Context, s *topology.Instance, several bool) error {
	if s.Unknown != nil {
		w.addNote(
			"server %s is known by its address only, so under another address it counts as another server: %v",
			s.Name,
			s.Unknown,
		)
	}
	item := ""
	if several {
		item = s.Name
	}
	shared, err := s.Queries.Counters("server", s.Major)
	if err != nil {
		return err
	}
	own, err := s.Queries.Counters("database", s.Major)
	if err != nil {
		return err
	}
	var container *topology.Container
	pid := 0
	here := isHere(ctx, s.Databases[0])
	if here && runtime.GOOS == "linux" {
		pid, container = w.findProcess(ctx, s, item)
	}
	counters := []sampling.Counters{{Query: shared, Label: "server", Of: s.Name, Item: item}}
	for _, t := range s.Databases {
		w.here[t] = here
		found := topology.Server{Version: s.Version, Container: container}
		if found.Settings, err = store.Settings(ctx, t); err != nil {
			w.addNote("%s: %v", t.Label(), t.Wrap("look", err))
		}
		found.OtherSettings = store.OtherSettings(ctx, t)
		if found.Files, err = s.Files(ctx, t); err != nil {
			w.unplaced = append(w.unplaced, fmt.Sprintf("%s: %v", t.Label(), err))
		}
		for i := range found.Files {
			found.Files[i].Process = pid
		}
		w.Servers[slices.Index(w.targets, t)] = found
		ofItself := sampling.Counters{Query: own, Label: "target", Of: t.Label(), Item: w.item(t)}
		src, err := sampling.Database(ctx, t.DB(), append(counters, ofItself)...)
		if err != nil {
			w.addNote("no counters of the database: %v", t.Wrap("read", err))
			continue
		}
		w.Sources = append(w.Sources, src)
		counters = nil
	}
	return nil
}

// Locator is an engine that knows more of where its server runs than FindProcess. An address does
// not tell: that of a tunnel is localhost.
type Locator interface {
	// Here says whether the server runs on this machine. It is false where that is unknown.
	Here(ctx context.Context) bool
}

func isHere(ctx context.Context, d store.Database) bool {
	if engine, ok := d.(Locator); ok {
		return engine.Here(ctx)
	}
	_, err := topology.FindProcess(ctx, d, process.Dir)
	return err == nil
}

// item tells a target apart in the columns, where there are several.
func (w *Observer) item(t store.Database) string {
	if len(w.targets) == 1 {
		return ""
	}
	return t.Label()
}

// observeFiles opens what a target's server counts of its files itself. Where the drives are not
// observed, the files stand for them.
func (w *Observer) observeFiles(
	ctx context.Context,
	s *topology.Instance,
	t store.Database,
	asDrives bool,
) {
	if s.Queries.FileCounters == "" {
		return
	}
	src, files, err := sampling.Files(
		ctx,
		t.DB(),
		t.Label(),
		w.item(t),
		asDrives,
		s.Queries.FileCounters,
	)
	if err != nil {
		w.addNote("no counters of the database's files: %v", t.Wrap("read", err))
		return
	}
	if w.Machine == nil {
		w.Machine = &topology.Machine{}
	}
	w.Machine.Files = append(w.Machine.Files, files...)
	if asDrives {
		w.addNote("the drives are judged by what %s counted of its files", t.Label())
		for _, f := range files {
			w.Machine.Drives = append(
				w.Machine.Drives,
				topology.Drive{Name: f.Name, File: true, Roles: []topology.Role{f.Role}},
			)
		}
	}
	w.Sources = append(w.Sources, src)
}

// findProcess finds a server's process on this machine, and opens the counters of it and of its
// container, which is nil where it may use all of the machine. Its file systems are looked for in
// its own mounts; where these may not be read, in those of ds2 if nothing shows that they differ.
func (w *Observer) findProcess(
	ctx context.Context,
	s *topology.Instance,
	item string,
) (mounts int, container *topology.Container) {
	pid, err := topology.FindProcess(ctx, s.Databases[0], topology.Root.Proc)
	var held topology.Limits
	if err == nil {
		held, err = topology.Root.Limits(pid)
	}
	if err != nil {
		w.addNote("what the server %s takes of this machine is not observed: %v", s.Name, err)
		return 0, nil
	}
	w.serverProcesses = append(w.serverProcesses, pid)
	w.Sources = append(w.Sources, sampling.ServerSources(topology.Root, pid, held, item, s.Name)...)
	if held.Container != (topology.Container{}) {
		container = &held.Container
	}
	_, err = topology.Root.Reach(pid, "/")
	if errors.Is(err, topology.ErrHidden) && !topology.Root.Isolated(pid) {
		w.addFound(MountsAssumed, s.Name, fmt.Sprintf("process %d", pid))
		return 0, container
	}
	return pid, container
}

// observeMachine opens the counters of the machine that ds2 runs on, on which the database files
// named lie.
func (w *Observer) observeMachine(ctx context.Context, files []topology.File) (err error) {
	w.Local = true
	devices := slices.Clone(w.devices)
	var fileSystem *topology.FileSystem
	roles := map[string][]topology.Role{} // by device
	var volumes []string
	for i, file := range files {
		found, err := topology.Root.FindOf(file)
		if err != nil {
			w.addFound(DrivesUnknown, file.Path, err.Error())
			continue
		}
		if i == 0 {
			fileSystem = &found
		}
		if len(w.devices) == 0 {
			devices = append(devices, found.Devices...)
		}
		volumes = append(volumes, found.Volumes...)
		for _, device := range slices.Concat(found.Devices, found.Volumes) {
			if !slices.Contains(roles[device], file.Role) {
				roles[device] = append(roles[device], file.Role)
			}
		}
		w.holdDevices(file, found)
	}
	slices.Sort(devices)
	devices = slices.Compact(devices)
	if len(devices) == 0 {
		if devices, err = topology.Root.Drives(); err != nil {
			return err
		}
	}
	machine := topology.Root.Machine(devices)
	maps.Copy(roles, w.roles) // the user knows better
	for i := range machine.Drives {
		machine.Drives[i].Roles = roles[machine.Drives[i].Name]
	}
	machine.FileSystem = fileSystem
	machine.Volumes = topology.Root.VolumesOver(volumes, machine.Drives)
	for i := range machine.Volumes {
		machine.Volumes[i].Roles = roles[machine.Volumes[i].Name]
	}
	w.Machine = &machine
	counters, err := sampling.MachineCounters(
		topology.Root,
		devices,
		w.withoutJournals(machine.Drives),
	)
	if err != nil {
		return &OptionError{"devices", err}
	}
	if len(machine.Volumes) > 0 {
		volumes, err := sampling.VolumeCounters(topology.Root, machine.Volumes)
		if err != nil {
			return err
		}
		w.Sources = append(w.Sources, volumes)
	}
	if caps, told := sampling.Caps(machine.Drives); told {
		w.Sources = append(w.Sources, caps)
	}
	return w.addCounters(ctx, machine.Drives, counters)
}
