package monitor

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"ds2/internal/process"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/topology"
)

// target is a database under test with what was found of its server.
type target struct {
	store.Database
	topology.Server
	here         bool               // its server is on this machine
	item         string             // that tells it apart in the columns, where there are several
	fileCounters string             // asks what the server did to its files; empty: none
	available    topology.Container // to its server; 0 where unknown
}

// servers are what was found of the targets' servers.
type servers struct {
	seen
	targets  []target // in the order of the databases
	unplaced []string // why it is not known where files of theirs lie
	// those of this machine whose children are sessions, or that are all of a server
	processes []int
}

// findServers asks the servers about themselves and their databases, and opens their counters.
func findServers(ctx context.Context, databases []store.Database) (all servers, err error) {
	instances, err := topology.Instances(ctx, databases)
	if err != nil {
		return all, err
	}
	byDatabase := map[store.Database]target{}
	for _, s := range instances {
		item := itemOf(s.Name, len(instances))
		of, err := findServer(ctx, s, item, len(databases))
		if err != nil {
			return all, err
		}
		all.add(of.seen)
		all.unplaced = append(all.unplaced, of.unplaced...)
		all.processes = append(all.processes, of.processes...)
		for _, t := range of.targets {
			byDatabase[t.Database] = t
		}
	}
	for _, d := range databases {
		all.targets = append(all.targets, byDatabase[d])
	}
	return all, nil
}

// itemOf tells one of several apart in the columns.
func itemOf(name string, of int) string {
	if of == 1 {
		return ""
	}
	return name
}

// findServer asks a server about itself and its databases, which are of so many targets. What all
// databases share, such as the log, is read through the first.
func findServer(
	ctx context.Context,
	s *topology.Instance,
	item string,
	targets int,
) (all servers, err error) {
	if s.Unknown != nil {
		all.note("server %s is known by its address only, "+
			"so under another address it counts as another server: %v", s.Name, s.Unknown)
	}
	shared, err := s.Queries.Counters("server", s.Major)
	if err != nil {
		return all, err
	}
	own, err := s.Queries.Counters("database", s.Major)
	if err != nil {
		return all, err
	}
	var p serverProcess
	here := isHere(ctx, s.Databases[0])
	if here && runtime.GOOS == "linux" {
		if p, err = findProcess(ctx, s, item); err != nil {
			all.note("what the server %s takes of this machine is not observed: %v", s.Name, err)
		} else {
			all.processes = []int{p.pid}
			all.add(p.seen)
		}
	}
	counters := []sampling.Counters{{Query: shared, Label: "server", Of: s.Name, Item: item}}
	for _, d := range s.Databases {
		t := target{
			Database: d, Server: topology.Server{Version: s.Version, Container: p.container},
			here: here, item: itemOf(d.Label(), targets), fileCounters: s.Queries.FileCounters,
		}
		if t.Settings, err = store.Settings(ctx, d); err != nil {
			all.note("%s: %v", d.Label(), d.Wrap("look", err))
		}
		t.OtherSettings = store.OtherSettings(ctx, d)
		if t.Files, err = s.Files(ctx, d); err != nil {
			all.unplaced = append(all.unplaced, fmt.Sprintf("%s: %v", d.Label(), err))
		}
		for i := range t.Files {
			t.Files[i].Process = p.mounts
		}
		all.targets = append(all.targets, t)
		ofItself := sampling.Counters{Query: own, Label: "target", Of: d.Label(), Item: t.item}
		src, err := sampling.Database(ctx, d.DB(), append(counters, ofItself)...)
		if err != nil {
			all.note("no counters of the database: %v", d.Wrap("read", err))
			continue
		}
		all.sources = append(all.sources, src)
		counters = nil
	}
	return all, nil
}

// Locator is an engine that knows more of where its server runs than FindProcess. An address does
// not tell: that of a tunnel is localhost.
type Locator interface {
	// Here says whether the server runs on this machine. It is false where that is unknown.
	Here(ctx context.Context) bool
}

// isHere says whether a server runs on this machine, as its engine knows or else by its process.
func isHere(ctx context.Context, d store.Database) bool {
	if engine, ok := d.(Locator); ok {
		return engine.Here(ctx)
	}
	_, err := topology.FindProcess(ctx, d, process.Dir)
	return err == nil
}

// serverProcess is a server's on this machine.
type serverProcess struct {
	seen
	pid       int
	mounts    int                 // the process whose mounts its paths lie in; 0: that of ds2
	container *topology.Container // nil where it may use all of the machine
}

// findProcess finds a server's process on this machine, and opens the counters of it and of its
// container. Its file systems are looked for in its own mounts; where these may not be read, in
// those of ds2 if nothing shows that they differ.
func findProcess(
	ctx context.Context,
	s *topology.Instance,
	item string,
) (found serverProcess, err error) {
	pid, err := topology.FindProcess(ctx, s.Databases[0], topology.Root.Proc)
	if err != nil {
		return found, err
	}
	held, err := topology.Root.Limits(pid)
	if err != nil {
		return found, err
	}
	found.pid = pid
	found.mounts = pid
	found.sources = sampling.ServerSources(topology.Root, pid, held, item, s.Name)
	if held.Container != (topology.Container{}) {
		found.container = &held.Container
	}
	_, err = topology.Root.Reach(pid, "/")
	if errors.Is(err, topology.ErrHidden) && !topology.Root.Isolated(pid) {
		detail := fmt.Sprintf("process %d", pid)
		found.found = []Found{{MountsAssumed, s.Name, detail}}
		found.mounts = 0
	}
	return found, nil
}
