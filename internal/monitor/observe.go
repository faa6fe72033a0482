// Package monitor puts together what is observed beside a run: it asks the servers, has their
// machines and drives found by package topology, and opens the sources of packages sampling and
// power.
package monitor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ds2/internal/power"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/topology"
)

// Options say what is observed beside the orders and where from. The zero value observes this
// machine, where a target is on it, and every target's own counters.
type Options struct {
	// Block devices by name, each with what is on it where that is said: data=nvme0n1; none: those
	// under the databases' files.
	Devices []string

	PowerCommand string // prints watts
	PowerLog     string // file that a meter writes, read after the run

	SMART string // SMARTAuto, SMARTOn or SMARTOff; empty: off

	IOTrace bool // times every I/O by what it is for, where that can be had

	// bytes that the database servers may use; 0: as their machine and container tell
	ServerMemory int64

	// URLs of the node_exporters or windows_exporters of the targets' machines, asked each second
	Exporters []string
}

// Check is an OptionError where they cannot be followed whatever the targets are.
func (o Options) Check() error {
	if _, err := readDevices(o.Devices); err != nil {
		return err
	}
	if err := power.CheckMeterLog(o.PowerLog); err != nil {
		return &OptionError{"power", err}
	}
	return nil
}

// OptionError is one of Options that cannot be followed.
type OptionError struct {
	Field string // as the command line writes it: "power"
	error
}

// Unwrap gives the cause.
func (e *OptionError) Unwrap() error { return e.error }

// Observer is what is observed of the machine and the databases under test, through one run or
// several.
type Observer struct {
	// For the user to read before the run.
	Notes []string // what cannot be observed and why
	// the note on what is not known of where the files lie, on which drives; empty: there is none
	Unplaced string
	// what of the targets and of what is observed bears on what a run is worth; records have it too
	Found []Found

	Machine *topology.Machine // under test; nil where nothing is known of it
	Servers []topology.Server // of the targets, in their order: targets of one server have the same
	Sources []sampling.Source // to be sampled
	Local   bool              // ds2 runs on the machine under test
	IOTrace *sampling.IOTrace // nil: I/Os are not traced

	targets   []target
	exporters exporters
	powerLog  string
	smart     smart
}

// Of what is observed each finder below finds a part. It gives what it found, with notes for the
// user on what it could not and, of what was asked for by name and is not there, an error.

// seen is what of a part is the same for all.
type seen struct {
	sources []sampling.Source
	found   []Found
	notes   []string
}

// add appends what was seen of another part.
func (s *seen) add(other seen) {
	s.sources = append(s.sources, other.sources...)
	s.found = append(s.found, other.found...)
	s.notes = append(s.notes, other.notes...)
}

// note tells the user what cannot be observed.
func (s *seen) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// Observe finds out what can be observed in runs of a length (0: until stopped). What was asked for
// by name and is not there is an error; what is merely missing becomes a note.
func Observe(
	ctx context.Context,
	databases []store.Database,
	run time.Duration,
	o Options,
) (*Observer, error) {
	named, err := readDevices(o.Devices)
	if err != nil {
		return nil, err
	}
	servers, err := findServers(ctx, databases)
	if err != nil {
		return nil, err
	}
	machines, err := findMachines(ctx, servers.targets, named, o.Exporters)
	if err != nil {
		return nil, err
	}
	files := findFileCounters(ctx, servers.targets, machines.machine == nil)
	machine := files.joinMachine(machines.machine)
	unplaced := strings.Join(append(servers.unplaced, findUnplaced(machine)...), "; ")
	smart := findSMART(ctx, o.SMART, machine, machines.local)
	own, err := sampling.OwnSources(topology.Root)
	if err != nil {
		return nil, err
	}
	var all seen
	for _, part := range []seen{servers.seen, machines.seen, files.seen, smart.seen} {
		all.add(part)
	}
	w := &Observer{
		Notes:     all.notes,
		Unplaced:  unplaced,
		Found:     append(all.found, findBursts(machine, run)...),
		Machine:   machine,
		Sources:   append(all.sources, own...),
		Local:     machines.local,
		exporters: machines.exporters,
		powerLog:  o.PowerLog,
		smart:     smart,
	}
	if unplaced != "" {
		w.Notes = append(w.Notes, unplaced)
	}
	for _, t := range servers.targets {
		t.Container = machines.exporters.containerOf(t)
		t.available = availableTo(t, machines, o.ServerMemory)
		w.targets = append(w.targets, t)
		w.Servers = append(w.Servers, t.Server)
	}
	advice, err := askAdvice(ctx, w.targets, run)
	if err != nil {
		return nil, err
	}
	w.Found = append(w.Found, advice...)
	if o.PowerCommand != "" {
		meter, err := power.NewCommand(ctx, o.PowerCommand)
		if err != nil {
			return nil, &OptionError{"power", err}
		}
		w.Sources = append(w.Sources, meter)
	}
	if o.IOTrace { // last: after an error it would not be ended
		trace, err := traceIO(machines, servers)
		if err != nil {
			w.Notes = append(w.Notes, fmt.Sprintf("I/Os are not traced: %v", err))
			return w, nil
		}
		w.IOTrace = trace
		w.Sources = append(w.Sources, trace.Source())
	}
	return w, nil
}

// Adviser is an engine that tells what of the server's configuration makes a run say less about the
// drives than it seems to.
type Adviser interface {
	// Advise says why the drives may see hardly a read, empty where they will, and one sentence for
	// each thing else that a user should know before a run of a length; 0: no run is near. The
	// server may use some bytes of memory; 0: unknown.
	Advise(
		ctx context.Context,
		run time.Duration,
		memory int64,
	) (reads string, others []string, err error)
}

// askAdvice asks the targets what makes runs on them a poor test of storage.
func askAdvice(
	ctx context.Context,
	targets []target,
	run time.Duration,
) (found []Found, err error) {
	for _, t := range targets {
		engine, ok := t.Database.(Adviser)
		if !ok {
			continue
		}
		reads, others, err := engine.Advise(ctx, run, t.available.MemoryBytes)
		if err != nil {
			return nil, err
		}
		if reads != "" {
			found = append(found, Found{MemoryHolds, t.Label(), reads})
		}
		for _, sentence := range others {
			found = append(found, Found{Distorted, t.Label(), sentence})
		}
	}
	return found, nil
}

// Available is what the server of a target may use; 0 where unknown.
func (w *Observer) Available(target int) topology.Container { return w.targets[target].available }

// availableTo is what the server of a target may use, of memory what the user says; 0 where
// unknown.
func availableTo(t target, m machines, memory int64) (available topology.Container) {
	machine := m.machine
	if len(m.exporters.all) > 0 {
		machine = nil
		if e := m.exporters.of(t); e != nil {
			machine = &e.Machine
		}
	}
	if machine != nil {
		available.MemoryBytes = machine.MemoryBytes
		available.Processors = float64(machine.Processors)
	}
	if limits := t.Container; limits != nil {
		available.MemoryBytes = topology.LowerLimit(available.MemoryBytes, limits.MemoryBytes)
		available.Processors = topology.LowerLimit(available.Processors, limits.Processors)
	}
	// What the user says of memory goes before what the machine and the container tell.
	available.MemoryBytes = cmp.Or(memory, available.MemoryBytes)
	return available
}

// Found is one thing that was found of a target or of what is observed.
type Found struct {
	Kind   string // one of those below
	Of     string // the target, file, drive or server that it is about
	Detail string
}

// The kinds of Found.
const (
	// of the targets' configurations: a cache for all of the data, which the run may disprove, and
	// what else makes a poor test of storage
	MemoryHolds = "cache too large"
	Distorted   = "distorted"
	// a server's, which may not be read, are taken to be those of ds2
	MountsAssumed    = "mounts assumed"
	DrivesUnknown    = "drives unknown"    // under a file
	DevicesElsewhere = "devices elsewhere" // those that were named do not hold a file
	// a drive or machine of a cloud, for longer than the run or not
	WithinBurst = "within a burst"
	MayBurst    = "may burst"
)

// findBursts finds what of a machine is faster at first than later: of a run of a length that
// matters where it is no longer than that; 0: no run is near.
func findBursts(machine *topology.Machine, run time.Duration) (found []Found) {
	if machine == nil {
		return nil
	}
	for _, b := range machine.Bursts() {
		kind := MayBurst
		if run > 0 && run <= b.Lasts {
			kind = WithinBurst
		}
		found = append(found, Found{kind, b.Of, b.Text})
	}
	return found
}

// devices are those that the user named, in their order.
type devices struct {
	names []string
	roles map[string][]topology.Role // of these, as far as they were given
}

// readDevices reads the devices to observe: nvme0n1 or, where the user says what is on it,
// data=nvme0n1.
func readDevices(given []string) (all devices, err error) {
	all.roles = map[string][]topology.Role{}
	for _, text := range given {
		role, name, has := strings.Cut(text, "=")
		if !has {
			role = ""
			name = text
		}
		switch {
		case name == "" || has && !slices.Contains([]topology.Role{topology.Data, topology.Log, topology.Temp}, topology.Role(role)):
			return all, &OptionError{
				"devices",
				fmt.Errorf("%q is not a device: write nvme0n1, "+
					"or data=nvme0n1, log=nvme0n1 or temp=nvme0n1 for what the database keeps on it", text),
			}
		case has && !slices.Contains(all.roles[name], topology.Role(role)):
			all.roles[name] = append(all.roles[name], topology.Role(role))
		}
		if !slices.Contains(all.names, name) {
			all.names = append(all.names, name)
		}
	}
	return all, nil
}

// Told drops the note on where the files lie, which another note tells, with the reason.
func (w *Observer) Told() {
	w.Notes = slices.DeleteFunc(w.Notes, func(note string) bool { return note == w.Unplaced })
	w.Unplaced = ""
}

// findUnplaced says which roles no drive of a machine is known to have, which so is not judged.
func findUnplaced(machine *topology.Machine) []string {
	var missing []string
	if machine == nil {
		return nil
	}
	for _, role := range []topology.Role{topology.Data, topology.Log} {
		holds := func(d topology.Drive) bool { return d.Holds(role) }
		if !slices.ContainsFunc(machine.Drives, holds) {
			missing = append(missing, string(role))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("which drives hold the %s, of %s, is unknown, "+
		"so there are no IOPS and no figures of these drives apart: "+
		"say so, as in --devices data=nvme1n1,log=nvme2n1",
		strings.Join(missing, " and the "), strings.Join(machine.DriveNames(), ", "))}
}

// Fill puts into the samples of a run what the log of the power meter says, as power.Fill does.
func (w *Observer) Fill(t *sampling.Table, from, to time.Time) (filled bool, lacks string) {
	return power.Fill(w.powerLog, t, from, to)
}
