package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ds2/internal/diagnose"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// cost is one of those of a cycle, and what it is shown in.
type cost struct {
	name, title, unit string
	scale             float64
	of                func(*diagnose.Costs) *float64
}

var costs = []cost{
	{"device_reads_per_order", "device reads", "", 1, func(c *diagnose.Costs) *float64 { return c.Reads }},
	{"device_writes_per_order", "device writes", "", 1, func(c *diagnose.Costs) *float64 { return c.Writes }},
	{"device_read_bytes_per_order", "bytes read from devices", "kB", 1e-3, func(c *diagnose.Costs) *float64 { return c.ReadBytes }},
	{"device_written_bytes_per_order", "bytes written to devices", "kB", 1e-3, func(c *diagnose.Costs) *float64 { return c.WrittenBytes }},
	{"log_bytes_per_order", "bytes of the database log", "kB", 1e-3, func(c *diagnose.Costs) *float64 { return c.LogBytes }},
	{"device_seconds_per_order", "time of the devices", "ms", 1e3, func(c *diagnose.Costs) *float64 { return c.DeviceSeconds }},
	{"server_cpu_seconds_per_order", "processors of the database", "ms", 1e3, func(c *diagnose.Costs) *float64 { return c.ServerCPU }},
	{"client_cpu_seconds_per_order", "processors of ds2", "ms", 1e3, func(c *diagnose.Costs) *float64 { return c.ClientCPU }},
	{"joules_per_order", "energy", "J", 1, func(c *diagnose.Costs) *float64 { return c.Joules }},
}

// costTable is what a cycle took; without rows where nothing was measured.
func costTable(c *diagnose.Costs, words result.Words) table {
	t := table{Caption: "What " + words.A() + " costs, on average over the first window", Head: []string{"what", "unit", words.A()}}
	if c == nil {
		return t
	}
	for _, cost := range costs {
		if v := cost.of(c); v != nil {
			t.Rows = append(t.Rows, []string{cost.title, cost.unit, figure(*v * cost.scale)})
		}
	}
	return t
}

// costFigures are the costs as figures that are compared.
func costFigures() (all []compared) {
	for _, cost := range costs {
		of := func(r result.BenchRun) *float64 {
			if r.Costs == nil {
				return nil
			}
			return cost.of(r.Costs)
		}
		all = append(all, compared{cost.name, cost.title, cost.unit, cost.scale, of, ""})
	}
	return all
}

// ioTable is the times of traced I/Os, by drive and what they were for; without rows where none were traced.
func ioTable(s result.Summary) table {
	t := table{Caption: "Times of I/Os in milliseconds", Head: []string{"drive and purpose", "count", "mean", "p50", "p95", "p99", "p99.9", "p99.99", "max"}}
	if len(s.Windows) == 0 {
		return t
	}
	w := s.Windows[0]
	t.Caption += fmt.Sprintf(", from %s to %s", seconds(w.LatencyFrom), seconds(w.LatencyTo))
	for _, e := range s.IOEvents {
		if e.Ratio != nil && e.Unit != "" {
			t.Caption += fmt.Sprintf("; experimental: by events of %s, in whole %s, %s times the milliseconds that it counts", e.Target, e.Unit, figure(*e.Ratio))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.IO)) {
		l := w.IO[name]
		t.Rows = append(t.Rows, []string{name, integer(l.Count), figure(l.Mean), figure(l.P50), figure(l.P95), figure(l.P99), figure(l.P999), figure(l.P9999), figure(l.Max)})
	}
	return t
}

// smartTable is what the drives told of themselves before and after the run; without rows where none did.
func smartTable(drives []monitor.SMART) table {
	t := table{Caption: "What the drives tell of themselves (SMART), over the whole run",
		Head: []string{"drive", "written to it MB", "written to its flash MB", "write amplification", "°C before", "°C after", "wear %", "held back by heat"}}
	scaled := func(v *float64, scale float64) string {
		if v == nil {
			return "–"
		}
		return figure(*v * scale)
	}
	for _, d := range drives {
		name := d.Drive
		if d.Model != "" {
			name = fmt.Sprintf("%s, %s", d.Drive, d.Model)
		}
		throttled := d.Throttled
		if throttled == "" && (d.After.Throttles != nil || d.After.HotMinutes != nil) {
			throttled = "no"
		}
		t.Rows = append(t.Rows, []string{name, scaled(d.HostBytes, 1e-6), scaled(d.MediaBytes, 1e-6), scaled(d.Amplification, 1),
			scaled(d.Before.Temperature, 1), scaled(d.After.Temperature, 1), scaled(d.After.Wear, 100), throttled})
	}
	return t
}

// logTable is the log of a run, where its workload has it in the report: the last lines of it.
func logTable(s result.Summary) table {
	t := table{Caption: "Log of the run", Head: []string{"at UTC", "message"}, Words: true}
	for _, line := range s.Log {
		at, message, _ := strings.Cut(line, " ")
		at, stamped := strings.CutPrefix(at, "time=")
		if !stamped {
			at, message = "", line
		}
		if _, clock, ok := strings.Cut(at, "T"); ok {
			at = strings.TrimSuffix(clock, "Z")
		}
		t.Rows = append(t.Rows, []string{at, message})
	}
	return t
}

// commandTable is how ds2 was called, and with which value of every flag.
func commandTable(c *result.Command) table {
	t := list("Command")
	if c == nil {
		return t
	}
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(c.Flags)) {
		flags = append(flags, fmt.Sprintf("--%s=%s", name, c.Flags[name]))
	}
	t.Rows = [][]string{{"command", c.Line}, {"all flags", strings.Join(flags, "  ")}}
	return t
}
