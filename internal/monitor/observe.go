package monitor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"ds2/internal/store"
)

// Options say what is observed beside the orders and where from. The zero value observes this machine, where a target is
// on it, and every target's own counters.
type Options struct {
	Devices []string // block devices by name, each with what is on it where that is said: data=nvme0n1; none: those under the databases' files

	PowerCommand string // prints watts
	PowerLog     string // file that a meter writes, read after the run
	PowerQuery   string // of Prometheus, asked after the run

	SMART string // SMARTAuto, SMARTOn or SMARTOff; empty: off

	IOTrace bool // times every I/O by what it is for, where that can be had

	ServerMemory int64 // bytes that the database servers may use; 0: as their machine and container tell

	Exporters []string // URLs of the node_exporters or windows_exporters of the targets' machines, asked each second

	Prometheus string // URL of the server that holds a node_exporter's series of the targets' machine, asked after the run
	Instance   string // of that node_exporter; empty: the first target's host
}

// OptionError is one of Options that cannot be followed.
type OptionError struct {
	Field string // as the command line writes it: "power"
	Err   error
}

// Error gives the cause.
func (e *OptionError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *OptionError) Unwrap() error { return e.Err }

// Observer observes the machine and the databases under test through one run or several.
type Observer struct {
	Notes    []string // what cannot be observed and why, for the user to read before the run
	Warnings []string // what makes a run a poor test of storage, for the user to read before the run; records have them too
	// Distorting are those of the warnings that are about the targets' configuration.
	Distorting []string
	Reads      []string // why the drives may see hardly a read, for the user to read before the run; which the run may disprove

	Machine *Machine // under test; nil where nothing is known of it
	Servers []Server // of the targets, in their order: targets of one server have the same
	Sources []Source // to be sampled
	Local   bool     // ds2 runs on the machine under test
	Clocks  []Clock  // of the other machines, as far as they are known
	IOTrace *IOTrace // nil: I/Os are not traced

	targets         []store.Database
	here            map[store.Database]bool // those whose server is on this machine
	exporters       []*Exporter
	serverProcesses []int // those of this machine whose children are sessions, or that are all of a server

	o          Options
	devices    []string          // that were asked for
	roles      map[string][]Role // of these, as far as they were given
	prometheus *Prometheus

	smartctl    string   // the program
	smartDrives []string // that answer it
}

// Observe finds out what can be observed in runs of a length (0: until stopped). What was asked for by name and is not
// there is an error; what is merely missing becomes a note.
func Observe(ctx context.Context, targets []store.Database, run time.Duration, o Options) (*Observer, error) {
	w := &Observer{o: o, targets: targets, Servers: make([]Server, len(targets)), here: map[store.Database]bool{}}
	var err error
	if w.devices, w.roles, err = readDevices(o.Devices); err != nil {
		return nil, err
	}
	if err := w.remote(ctx); err != nil {
		return nil, err
	}
	servers, err := store.Servers(ctx, targets)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, s := range servers {
		if err := w.server(ctx, s, len(servers) > 1); err != nil {
			return nil, err
		}
	}
	for i, t := range targets {
		if w.here[t] {
			files = append(files, w.Servers[i].Files...)
		}
	}
	local := slices.ContainsFunc(targets, func(t store.Database) bool {
		// Those who name drives may know of a server here whose process and files cannot be seen from this container.
		return w.here[t] || len(o.Devices) > 0 && IsLocal(HostOf(t.Label()))
	})
	switch linux := runtime.GOOS == "linux"; {
	case o.Prometheus != "": // it is asked after the run
	case len(o.Exporters) > 0:
		if err := w.openExporters(ctx); err != nil {
			return nil, err
		}
		w.Local = len(w.exporters) == 1 && local && IsLocal(hostname(w.exporters[0].Name))
	case local && linux:
		if err := w.thisMachine(ctx, files); err != nil {
			return nil, err
		}
	case len(w.devices) > 0:
		return nil, &OptionError{"devices", errors.New("the targets are not on this machine, or it does not run Linux; give the URL of the exporter on their machine, or of the Prometheus that observes it")}
	default:
		w.note("the databases' machine is not observed: it is another one, or no Linux, and neither an exporter nor a Prometheus is given")
	}
	asDrives := w.Machine == nil
	for _, s := range servers {
		for _, t := range s.Databases {
			w.files(ctx, s, t, asDrives)
		}
	}
	w.traceIO(files)
	w.noteRoles()
	w.smart(ctx)
	if runtime.GOOS == "linux" {
		client, err := Root.Client()
		if err != nil {
			return nil, err
		}
		w.Sources = append(w.Sources, client)
		if own, held := Root.ownThrottling(); held {
			w.Sources = append(w.Sources, own)
		}
	}
	if err := w.advise(ctx, run); err != nil {
		return nil, err
	}
	w.Warnings = append(w.Warnings, w.Distorting...)
	for _, c := range w.Clocks {
		if c.Differs() {
			w.Warnings = append(w.Warnings, c.String()+": what was noted by it, in a log or by a meter, does not fall on the right second of the run; set both by NTP")
		}
	}
	return w, w.power(ctx)
}

// advise asks the targets what makes runs on them a poor test of storage.
func (w *Observer) advise(ctx context.Context, run time.Duration) error {
	for i, t := range w.targets {
		advise := t.Can().Advise
		if advise == nil {
			continue
		}
		reads, others, err := advise(ctx, run, w.Memory(i))
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

// Memory is what the server of a target may use, in bytes; 0 where nobody knows.
func (w *Observer) Memory(target int) int64 {
	t, s := w.targets[target], w.Servers[target]
	if w.o.ServerMemory > 0 {
		return w.o.ServerMemory
	}
	memory := int64(0)
	if m := w.machineOf(t); m != nil {
		memory = m.MemoryBytes
	}
	if s.Container != nil && s.Container.MemoryBytes > 0 && (memory == 0 || s.Container.MemoryBytes < memory) {
		memory = s.Container.MemoryBytes
	}
	return memory
}

func (w *Observer) note(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}

// HostOf is the host in a target's label, host:port/database.
func HostOf(label string) string {
	address := label[:max(strings.LastIndex(label, "/"), 0)]
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return name
}

// remote looks at Prometheus, so that a wrong URL shows before the run.
func (w *Observer) remote(ctx context.Context) error {
	if w.o.Prometheus == "" {
		if w.o.PowerQuery != "" {
			return &OptionError{"power", errors.New("give the URL of the Prometheus that holds it")}
		}
		return nil
	}
	if w.o.Instance == "" {
		w.o.Instance = HostOf(w.targets[0].Label())
	}
	var err error
	if w.prometheus, err = NewPrometheus(w.o.Prometheus); err != nil {
		return &OptionError{"prometheus", err}
	}
	found, err := w.prometheus.find(ctx, w.o.Instance, time.Now())
	if err != nil {
		return &OptionError{"prometheus", err}
	}
	if found.kind == nil {
		w.note("Prometheus holds nothing yet of an exporter with instance %q", w.o.Instance)
		w.Machine = &Machine{}
		for _, name := range w.devices {
			w.Machine.Drives = append(w.Machine.Drives, Drive{Name: name, Roles: w.roles[name]})
		}
		return nil
	}
	machine := found.kind.machine(found.shown)
	machine.Drives = w.drives(found.kind, found.shown)
	w.Machine = &machine
	return nil
}

// server asks a server about itself and its databases, and opens their counters. What all databases share, such as the log, is
// read through the first.
func (w *Observer) server(ctx context.Context, s *store.Server, several bool) error {
	if s.Unknown != nil {
		w.note("server %s is told apart by its address alone, so under another address it counts as another server: %v", s.Name, s.Unknown)
	}
	w.clock(ctx, s)
	item := ""
	if several {
		item = s.Name
	}
	shared, err := s.Counters()
	if err != nil {
		return err
	}
	own, err := s.DatabaseCounters()
	if err != nil {
		return err
	}
	var container *Container
	here := s.Any().Here(ctx)
	if runtime.GOOS == "linux" && w.prometheus == nil && here {
		container = w.process(ctx, s, item)
	}
	counters := []Counters{{Query: shared, Label: "server", Of: s.Name, Item: item}}
	for _, t := range s.Databases {
		w.here[t] = here
		found := Server{Version: s.Version, Container: container}
		if found.Settings, err = s.Settings(ctx, t); err != nil {
			w.note("%s: %v", t.Label(), t.Wrap("look", err))
		}
		if found.Files, err = s.Files(ctx, t); err != nil {
			w.note("%s: %v", t.Label(), err)
		}
		w.Servers[slices.Index(w.targets, t)] = found
		src, err := Database(ctx, t.DB(), append(counters, Counters{Query: own, Label: "target", Of: t.Label(), Item: w.item(t)})...)
		if err != nil {
			w.note("no counters of the database: %v", t.Wrap("read", err))
			continue
		}
		w.Sources = append(w.Sources, src)
		counters = nil
	}
	return nil
}

// item tells a target apart in the columns, where there are several.
func (w *Observer) item(t store.Database) string {
	if len(w.targets) == 1 {
		return ""
	}
	return t.Label()
}

// clock compares a server's clock with this machine's.
func (w *Observer) clock(ctx context.Context, s *store.Server) {
	label := s.Any().Label()
	c, err := databaseClock(ctx, s.Any().DB(), s.Clock())
	if err != nil {
		w.note("the clock of %s is not known: %v", label, s.Any().Wrap("ask for it", err))
		return
	}
	c.Of = label
	w.Clocks = append(w.Clocks, c)
}

// files opens what a target's server counts of its files itself. Where nobody observes the drives, the files stand for them.
func (w *Observer) files(ctx context.Context, s *store.Server, t store.Database, asDrives bool) {
	if s.FileCounters() == "" {
		return
	}
	src, files, err := Files(ctx, t.DB(), t.Label(), w.item(t), asDrives, s.FileCounters())
	if err != nil {
		w.note("no counters of the database's files: %v", t.Wrap("read", err))
		return
	}
	if w.Machine == nil {
		w.Machine = &Machine{}
	}
	w.Machine.Files = append(w.Machine.Files, files...)
	if asDrives {
		w.note("the drives are judged by what %s counted of its files", t.Label())
		for _, f := range files {
			w.Machine.Drives = append(w.Machine.Drives, Drive{Name: f.Name, File: true, Roles: []Role{f.Role}})
		}
	}
	w.Sources = append(w.Sources, src)
}

// process finds a server's process on this machine, and opens the counters of it and of its container, which is nil where it may
// use all of the machine.
func (w *Observer) process(ctx context.Context, s *store.Server, item string) *Container {
	var process *serverProcess
	err := store.FindProcess(ctx, s.Any(), Root.Proc, func(pid int, program string) (err error) {
		process, err = Root.findServer(pid, program)
		return err
	})
	if err != nil {
		w.note("what the server %s takes of this machine is not observed: %v", s.Name, err)
		return nil
	}
	w.serverProcesses = append(w.serverProcesses, process.pid)
	w.Sources = append(w.Sources, process.source(Root, item, s.Name))
	if process.Container == (Container{}) {
		return nil
	}
	return &process.Container
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
		w.note("where the database's files lie is not known: observing %s; name the devices if it is others", strings.Join(devices, ", "))
	}
	machine := Root.Machine(devices)
	for i := range machine.Drives {
		name := machine.Drives[i].Name
		machine.Drives[i].Roles = roles[name]
		if given := w.roles[name]; given != nil {
			machine.Drives[i].Roles = given
		}
	}
	machine.FileSystem = fileSystem
	w.Machine = &machine
	counters, err := Root.Counters(devices)
	if err != nil {
		return &OptionError{"devices", err}
	}
	if err := w.noteUncounted(ctx, counters); err != nil {
		return err
	}
	w.Sources = append(w.Sources, counters)
	rapl, err := Root.RAPL()
	switch {
	case errors.Is(err, ErrNoRAPL):
	case err != nil:
		w.note("%v", err)
	default:
		w.Sources = append(w.Sources, rapl)
	}
	return nil
}

// power opens the power meter.
func (w *Observer) power(ctx context.Context) error {
	if w.o.PowerLog != "" {
		if _, err := os.Stat(w.o.PowerLog); err != nil {
			return &OptionError{"power", err}
		}
	}
	if w.o.PowerCommand != "" {
		src, err := PowerCommand(ctx, w.o.PowerCommand)
		if err != nil {
			return &OptionError{"power", err}
		}
		w.Sources = append(w.Sources, src)
	}
	return nil
}

// Fill puts into the samples of a run what becomes known after it: the series of Prometheus and of the power meter. It
// tells whether there was anything to ask, and can be called again when a meter's log has arrived later.
func (w *Observer) Fill(ctx context.Context, t *Table) (filled bool, err error) {
	if w.prometheus != nil {
		filled, err = true, w.prometheus.Fill(ctx, t, w.o.Instance, w.devices)
		if w.o.PowerQuery != "" {
			err = errors.Join(err, w.prometheus.FillPower(ctx, t, w.o.PowerQuery))
		}
	}
	if w.o.PowerLog == "" {
		return filled, err
	}
	file, openErr := os.Open(w.o.PowerLog)
	if openErr != nil {
		return filled, errors.Join(err, fmt.Errorf("read power log: %w", openErr))
	}
	defer file.Close()
	watts, logErr := ReadMeterLog(file, time.Local)
	if logErr != nil {
		return filled, errors.Join(err, fmt.Errorf("%s: %w", w.o.PowerLog, logErr))
	}
	t.Set(Power, watts)
	return true, err
}
