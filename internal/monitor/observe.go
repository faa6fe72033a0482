// Package monitor puts together what is observed beside a run: it asks the servers, has their
// machines and drives found by package topology, and opens the sources of packages sampling and
// power.
package monitor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
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
	if _, _, err := readDevices(o.Devices); err != nil {
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

// Observer observes the machine and the databases under test through one run or several.
type Observer struct {
	// For the user to read before the run.
	Notes []string // what cannot be observed and why
	// the note on what is not known of where the files lie, on which drives; empty: there is none
	Unplaced string
	// what of the targets' configuration makes a run a poor test of storage; records have it too
	Distorting []string
	Reads      []string // why the drives may see hardly a read, which the run may disprove
	Found      []Found  // of what is observed, and bears on what a run is worth

	Machine *topology.Machine // under test; nil where nothing is known of it
	Servers []topology.Server // of the targets, in their order: targets of one server have the same
	Sources []sampling.Source // to be sampled
	Local   bool              // ds2 runs on the machine under test
	IOTrace *sampling.IOTrace // nil: I/Os are not traced

	targets   []store.Database
	unplaced  []string                // the parts of Unplaced
	here      map[store.Database]bool // those whose server is on this machine
	exporters []*sampling.Exporter
	// those of this machine whose children are sessions, or that are all of a server
	serverProcesses []int

	o       Options
	devices []string                   // that were asked for
	roles   map[string][]topology.Role // of these, as far as they were given

	smartctl    string   // the program
	smartDrives []string // that answer it
}

// Observe finds out what can be observed in runs of a length (0: until stopped). What was asked for
// by name and is not there is an error; what is merely missing becomes a note.
func Observe(
	ctx context.Context,
	targets []store.Database,
	run time.Duration,
	o Options,
) (*Observer, error) {
	w := &Observer{
		o:       o,
		targets: targets,
		Servers: make([]topology.Server, len(targets)),
		here:    map[store.Database]bool{},
	}
	var err error
	if w.devices, w.roles, err = readDevices(o.Devices); err != nil {
		return nil, err
	}
	servers, err := topology.Instances(ctx, targets)
	if err != nil {
		return nil, err
	}
	var files []topology.File
	for _, s := range servers {
		if err := w.observeServer(ctx, s, len(servers) > 1); err != nil {
			return nil, err
		}
	}
	local := false
	for i, t := range targets {
		if w.here[t] {
			files = append(files, w.Servers[i].Files...)
		}
		// Those who name drives may know of a server here whose process and files cannot be seen
		// from this container.
		local = local || w.here[t] ||
			len(o.Devices) > 0 && topology.IsLocal(topology.HostOf(t.Label()))
	}
	switch {
	case len(o.Exporters) > 0:
		if err := w.openExporters(ctx); err != nil {
			return nil, err
		}
		w.noteWithoutExporter()
		w.Local = len(w.exporters) == 1 && local && topology.IsLocal(w.exporters[0].URL.Hostname())
	case local && runtime.GOOS == "linux":
		if err := w.observeMachine(ctx, files); err != nil {
			return nil, err
		}
	case len(w.devices) > 0:
		return nil, &OptionError{"devices", errors.New("the targets are not on this machine, " +
			"or it does not run Linux; give the URL of the exporter on their machine")}
	default:
		w.addNote(
			"the databases' machine is not observed: it is another one, or does not run Linux, " +
				"and no exporter is given",
		)
	}
	asDrives := w.Machine == nil
	for _, s := range servers {
		for _, t := range s.Databases {
			w.observeFiles(ctx, s, t, asDrives)
		}
	}
	w.noteRoles()
	w.findBursts(run)
	w.findSMART(ctx)
	own, err := sampling.OwnSources(topology.Root)
	if err != nil {
		return nil, err
	}
	w.Sources = append(w.Sources, own...)
	if err := w.askAdvice(ctx, run); err != nil {
		return nil, err
	}
	if o.PowerCommand != "" {
		meter, err := power.NewCommand(ctx, o.PowerCommand)
		if err != nil {
			return nil, &OptionError{"power", err}
		}
		w.Sources = append(w.Sources, meter)
	}
	w.traceIO(files) // last: after an error it would not be ended
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
func (w *Observer) askAdvice(ctx context.Context, run time.Duration) error {
	for i, t := range w.targets {
		engine, ok := t.(Adviser)
		if !ok {
			continue
		}
		reads, others, err := engine.Advise(ctx, run, w.Available(i).MemoryBytes)
		if err != nil {
			return err
		}
		if reads != "" {
			w.Reads = append(w.Reads, t.Label()+": "+reads)
		}
		for _, sentence := range others {
			w.Distorting = append(w.Distorting, t.Label()+": "+sentence)
		}
	}
	return nil
}

// Available is what the server of a target may use; 0 where unknown.
func (w *Observer) Available(target int) topology.Container {
	var machine topology.Machine
	if e := w.exporterOf(w.targets[target]); e != nil {
		machine = e.Machine
	} else if len(w.exporters) == 0 && w.Machine != nil {
		machine = *w.Machine
	}
	available := topology.Container{
		MemoryBytes: machine.MemoryBytes,
		Processors:  float64(machine.Processors),
	}
	if limits := w.Servers[target].Container; limits != nil {
		available.MemoryBytes = topology.LowerLimit(available.MemoryBytes, limits.MemoryBytes)
		available.Processors = topology.LowerLimit(available.Processors, limits.Processors)
	}
	available.MemoryBytes = cmp.Or(w.o.ServerMemory, available.MemoryBytes)
	return available
}

func (w *Observer) addNote(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}

// Found is one thing that was found of what is observed.
type Found struct {
	Kind   string // one of those below
	Of     string // the file, drive or server that it is about
	Detail string
}

// The kinds of Found.
const (
	// a server's, which may not be read, are taken to be those of ds2
	MountsAssumed    = "mounts assumed"
	DrivesUnknown    = "drives unknown"    // under a file
	DevicesElsewhere = "devices elsewhere" // those that were named do not hold a file
	// a drive or machine of a cloud, for longer than the run or not
	WithinBurst = "within a burst"
	MayBurst    = "may burst"
)

func (w *Observer) addFound(kind, of, detail string) {
	w.Found = append(w.Found, Found{kind, of, detail})
}

// findBursts finds what is faster at first than later: of a run of a length that matters where it
// is no longer than that; 0: no run is near.
func (w *Observer) findBursts(run time.Duration) {
	if w.Machine == nil {
		return
	}
	for _, b := range w.Machine.Bursts() {
		kind := MayBurst
		if run > 0 && run <= b.Lasts {
			kind = WithinBurst
		}
		w.addFound(kind, b.Of, b.Text)
	}
}

// readDevices reads the devices to observe: nvme0n1 or, where the user says what is on it,
// data=nvme0n1.
func readDevices(given []string) (names []string, roles map[string][]topology.Role, err error) {
	roles = map[string][]topology.Role{}
	for _, text := range given {
		role, name, has := strings.Cut(text, "=")
		if !has {
			role = ""
			name = text
		}
		switch {
		case name == "" || has && !slices.Contains([]topology.Role{topology.Data, topology.Log, topology.Temp}, topology.Role(role)):
			return nil, nil, &OptionError{
				"devices",
				fmt.Errorf("%q is not a device: write nvme0n1, "+
					"or data=nvme0n1, log=nvme0n1 or temp=nvme0n1 for what the database keeps on it", text),
			}
		case has && !slices.Contains(roles[name], topology.Role(role)):
			roles[name] = append(roles[name], topology.Role(role))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, roles, nil
}

// Told drops the note on where the files lie, which another note tells, with the reason.
func (w *Observer) Told() {
	w.Notes = slices.DeleteFunc(w.Notes, func(note string) bool { return note == w.Unplaced })
	w.Unplaced = ""
}

// noteRoles says what is not known of where the files lie and of the drives, and so is not judged.
func (w *Observer) noteRoles() {
	var drives, missing []string
	if w.Machine != nil {
		for _, d := range w.Machine.Drives {
			drives = append(drives, d.Name)
		}
		for _, role := range []topology.Role{topology.Data, topology.Log} {
			if !slices.ContainsFunc(
				w.Machine.Drives,
				func(d topology.Drive) bool { return d.Holds(role) },
			) {
				missing = append(missing, string(role))
			}
		}
	}
	if len(missing) > 0 {
		w.unplaced = append(w.unplaced, fmt.Sprintf("which drives hold the %s, of %s, is unknown, "+
			"so there are no IOPS and no figures of these drives apart: "+
			"say so, as in --devices data=nvme1n1,log=nvme2n1",
			strings.Join(missing, " and the "), strings.Join(drives, ", ")))
	}
	if w.Unplaced = strings.Join(w.unplaced, "; "); w.Unplaced != "" {
		w.Notes = append(w.Notes, w.Unplaced)
	}
}

// Fill puts into the samples of a run what the log of the power meter says, as power.Fill does.
func (w *Observer) Fill(t *sampling.Table, from, to time.Time) (filled bool, lacks string) {
	return power.Fill(w.o.PowerLog, t, from, to)
}
