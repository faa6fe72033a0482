package experiment

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

	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/schema"
)

// Observing says what is watched beside the orders and where from. The zero value watches this machine, where a target is
// on it, and every target's own counters.
type Observing struct {
	Devices []string // block devices by name; none: those under the databases' files

	PowerCommand string // prints watts
	PowerLog     string // file that a meter writes, read after the run
	PowerQuery   string // of Prometheus, asked after the run

	Prometheus string // URL of the server that holds a node_exporter's series of the targets' machine, asked after the run
	Instance   string // of that node_exporter; empty: the first target's host
}

// ObservingError is a field of Observing that cannot be followed.
type ObservingError struct {
	Field string // as the command line writes it: "power-log"
	Err   error
}

// Error gives the cause.
func (e *ObservingError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *ObservingError) Unwrap() error { return e.Err }

// Observer watches the machine and the databases under test through one run or several.
type Observer struct {
	Notes    []string // what cannot be watched and why, for the user to read before the run
	Warnings []string // what makes a run a poor test of storage, for the user to read before the run; records have them too

	o          Observing
	prometheus *monitor.Prometheus
	sources    []monitor.Source
	machine    *monitor.Machine
	servers    []monitor.Server
	advised    bool // the stores told what makes runs a poor test
}

// Observe finds out what can be watched in runs of a length (0: until stopped). What was asked for by name and is not
// there is an error; what is merely missing becomes a note.
func Observe(ctx context.Context, targets []store.Store, run time.Duration, o Observing) (*Observer, error) {
	w := &Observer{o: o}
	if err := w.remote(ctx, targets); err != nil {
		return nil, err
	}
	var files []string
	local := false
	for _, t := range targets {
		server, err := w.server(ctx, t, len(targets) > 1)
		if err != nil {
			return nil, err
		}
		w.servers = append(w.servers, server)
		if monitor.IsLocal(hostOf(t)) {
			local = true
			files = append(files, server.Files...)
		}
	}
	switch linux := runtime.GOOS == "linux"; {
	case o.Prometheus != "": // it is asked after the run
	case local && linux:
		if err := w.thisMachine(files); err != nil {
			return nil, err
		}
	case len(o.Devices) > 0:
		return nil, &ObservingError{"devices", errors.New("the targets are not on this machine, or it is no Linux; give the URL of the Prometheus that watches theirs")}
	default:
		w.note("the databases' machine is not watched: it is another one, or no Linux, and no Prometheus is given")
	}
	if runtime.GOOS == "linux" {
		client, err := monitor.Root.Client()
		if err != nil {
			return nil, err
		}
		w.sources = append(w.sources, client)
	}
	if err := w.advise(ctx, targets, run); err != nil {
		return nil, err
	}
	return w, w.power(ctx)
}

// advise asks the stores what makes runs on them a poor test of storage.
func (w *Observer) advise(ctx context.Context, targets []store.Store, run time.Duration) error {
	memory := int64(0)
	if w.machine != nil {
		memory = w.machine.MemoryBytes
	}
	for _, t := range targets {
		adviser, ok := t.(store.Adviser)
		if !ok {
			continue
		}
		w.advised = true
		advice, err := adviser.Advise(ctx, run, memory)
		if err != nil {
			return err
		}
		for _, sentence := range advice {
			w.Warnings = append(w.Warnings, t.Label()+": "+sentence)
		}
	}
	return nil
}

func (w *Observer) note(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}

// hostOf is the host in a target's label, host:port/database.
func hostOf(t store.Store) string {
	label := t.Label()
	address := label[:max(strings.LastIndex(label, "/"), 0)]
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return name
}

// remote looks at Prometheus, so that a wrong URL shows before the run.
func (w *Observer) remote(ctx context.Context, targets []store.Store) error {
	if w.o.Prometheus == "" {
		if w.o.PowerQuery != "" {
			return &ObservingError{"power-query", errors.New("give the URL of the Prometheus that holds it")}
		}
		return nil
	}
	if w.o.Instance == "" {
		w.o.Instance = hostOf(targets[0])
	}
	var err error
	if w.prometheus, err = monitor.NewPrometheus(w.o.Prometheus); err != nil {
		return &ObservingError{"prometheus", err}
	}
	machine, err := w.prometheus.Machine(ctx, w.o.Instance, time.Now())
	if err != nil {
		return &ObservingError{"prometheus", err}
	}
	if machine.MemoryBytes == 0 {
		w.note("Prometheus holds nothing yet of a node_exporter with instance %q", w.o.Instance)
	}
	w.machine = &machine
	return nil
}

// server asks a target about itself and opens its counters.
func (w *Observer) server(ctx context.Context, t store.Store, several bool) (monitor.Server, error) {
	q, err := schema.ServerQueries(t.Engine())
	if err != nil {
		return monitor.Server{}, err
	}
	server, err := monitor.ReadServer(ctx, t.DB(), monitor.ServerQueries{Version: q.Version, Files: q.Files, Settings: q.Settings})
	if server.Major == 0 {
		return server, t.Wrap("look at "+t.Label(), err)
	}
	if err != nil {
		w.note("%s: %v", t.Label(), t.Wrap("look", err))
	}
	query, err := q.Counters(server.Major)
	if err != nil {
		return server, err
	}
	item := ""
	if several {
		item = t.Label()
	}
	src, err := monitor.Database(ctx, t.DB(), t.Label(), item, query)
	if err != nil {
		w.note("no counters of the database: %v", t.Wrap("read", err))
		return server, nil
	}
	w.sources = append(w.sources, src)
	return server, nil
}

// thisMachine opens the counters of the machine that ds2 runs on, on which the database files named lie.
func (w *Observer) thisMachine(files []string) error {
	devices := w.o.Devices
	var fileSystem *monitor.FileSystem
	for i, file := range files {
		found, err := monitor.Root.Find(file)
		if err != nil {
			w.note("%v", err)
			continue
		}
		if i == 0 {
			fileSystem = &found
		}
		if len(w.o.Devices) == 0 {
			devices = append(devices, found.Devices...)
		}
	}
	slices.Sort(devices)
	devices = slices.Compact(devices)
	if len(devices) == 0 {
		var err error
		if devices, err = monitor.Root.Drives(); err != nil {
			return err
		}
		w.note("where the database's files lie is not known: watching %s; name the devices if it is others", strings.Join(devices, ", "))
	}
	machine := monitor.Root.Machine(devices)
	machine.FileSystem = fileSystem
	w.machine = &machine
	disks, err := monitor.Root.Disks(devices)
	if err != nil {
		return &ObservingError{"devices", err}
	}
	w.sources = append(w.sources, disks)
	for _, open := range []func() (monitor.Source, error){monitor.Root.CPU, monitor.Root.Memory, monitor.Root.Network} {
		src, err := open()
		if err != nil {
			return err
		}
		w.sources = append(w.sources, src)
	}
	rapl, err := monitor.Root.RAPL()
	switch {
	case errors.Is(err, monitor.ErrNoRAPL):
	case err != nil:
		w.note("%v", err)
	default:
		w.sources = append(w.sources, rapl)
	}
	return nil
}

// power opens the power meter.
func (w *Observer) power(ctx context.Context) error {
	if w.o.PowerLog != "" {
		if _, err := os.Stat(w.o.PowerLog); err != nil {
			return &ObservingError{"power-log", err}
		}
	}
	if w.o.PowerCommand != "" {
		src, err := monitor.PowerCommand(ctx, w.o.PowerCommand)
		if err != nil {
			return &ObservingError{"power-command", err}
		}
		w.sources = append(w.sources, src)
	}
	return nil
}

// Complete adds to a record what becomes known after its run: the series of Prometheus and of the power meter, and with
// them power, bottleneck and warnings. It can be done again when a meter's log has arrived later.
func (w *Observer) Complete(ctx context.Context, dir string) (result.Summary, error) {
	record, err := result.Read(dir)
	if err != nil {
		return result.Summary{}, err
	}
	errs := w.fill(ctx, &record.Host)
	s := record.Summary
	if err := result.SaveHost(dir, &record.Host, s.Start); err != nil {
		return s, err
	}
	s.Machine, s.Servers = w.machine, w.servers
	s.Power = powerOf(record)
	if s.Bottleneck = bottleneckOf(record.Host, s, w.prometheus == nil && w.machine != nil); s.Bottleneck != nil {
		s.Bottleneck.Warnings = w.Warnings
		if size := s.Bottleneck.Figures["db.size_bytes"]; !w.advised && size > 0 && w.machine != nil && size < float64(w.machine.MemoryBytes) {
			s.Bottleneck.Warnings = []string{fmt.Sprintf("the database of %.0f MB fits into the machine's memory of %d MB: its reads come from there and test no storage; use a larger size",
				size/1e6, w.machine.MemoryBytes/1e6)}
		}
	}
	return s, errors.Join(errs, result.SaveSummary(dir, s))
}

// fill puts what came from elsewhere into the samples.
func (w *Observer) fill(ctx context.Context, t *monitor.Table) error {
	var errs error
	if w.prometheus != nil {
		errs = w.prometheus.Fill(ctx, t, w.o.Instance, w.o.Devices)
		if w.o.PowerQuery != "" {
			errs = errors.Join(errs, w.prometheus.FillPower(ctx, t, w.o.PowerQuery))
		}
	}
	if w.o.PowerLog == "" {
		return errs
	}
	file, err := os.Open(w.o.PowerLog)
	if err != nil {
		return errors.Join(errs, fmt.Errorf("read power log: %w", err))
	}
	defer file.Close()
	watts, err := monitor.ReadMeterLog(file, time.Local)
	if err != nil {
		return errors.Join(errs, fmt.Errorf("%s: %w", w.o.PowerLog, err))
	}
	t.Set(monitor.PowerColumn, watts)
	return errs
}
