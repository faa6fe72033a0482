package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ds2/internal/compare"
	"ds2/internal/monitor"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

func costTable(costs *result.Costs, words result.Words) table {
	t := newTable(
		"What "+words.A()+" costs, on average over the first window",
		"what",
		"unit",
		"per "+words.Cycle,
	)
	for _, m := range compare.Costs {
		if v := m.Of(result.BenchRun{Costs: costs}); v != nil {
			t.row(strings.TrimSuffix(m.Title, " per {cycle}"), m.Unit, figure(*v*m.Scale))
		}
	}
	return t
}

// ioTable is the times of traced I/Os, by drive and what they were for; without rows where none
// were traced.
func ioTable(s result.Summary) table {
	t := newTable("Times of I/Os in milliseconds",
		"drive and purpose", "count", "mean", "p50", "p95", "p99", "p99.9", "p99.99", "max")
	if len(s.Windows) == 0 {
		return t
	}
	w := s.Windows[0]
	t.Caption += fmt.Sprintf(", from %s to %s", seconds(w.LatencyFrom), seconds(w.LatencyTo))
	for _, name := range slices.Sorted(maps.Keys(w.IO)) {
		l := w.IO[name]
		t.figures(name, l.Count, l.Mean, l.P50, l.P95, l.P99, l.P999, l.P9999, l.Max)
	}
	return t
}

// slowestTable is the slowest orders of the first window by the operations that took the most of
// their time, and which was the longest.
func slowestTable(s result.Summary) table {
	t := newTable(fmt.Sprintf("The %d slowest %s", len(s.Slowest), s.Words.Cycles),
		"operation that took the most time", "number", "longest, ms")
	var operations []string
	times := map[string][]float64{}
	for _, o := range s.Slowest {
		operations = addNew(operations, o.Operation)
		times[o.Operation] = append(times[o.Operation], 1000*(o.To-o.From))
	}
	for _, name := range operations {
		t.row(name, numbers.Integer(len(times[name])), figure(slices.Max(times[name])))
	}
	return t
}

func scrubTable(s result.Summary) table {
	t := newTable(
		"Background scan, over the whole run",
		"database",
		"MB/s asked for",
		"MB/s read",
		"requests/s",
		"bytes a request",
		"from the drives",
		"mean ms",
		"max ms",
		"passes",
		"failures",
	)
	for _, r := range s.Scrub {
		fromDrives := "unknown"
		if r.Device != nil { // more than was read where the kernel reads ahead
			fromDrives = numbers.Share(min(*r.Device, r.Bytes), r.Bytes, 2)
		}
		t.row(r.Target, numbers.Decimals(r.Rate/1e6, 3), numbers.Decimals(r.PerSecond()/1e6, 3),
			numbers.Decimals(r.RequestsPerSecond(), 2),
			numbers.Integer(r.RequestBytes()), fromDrives, figureOr(r.MeanMS), figureOr(r.MaxMS),
			numbers.Integer(r.Passes), numbers.Integer(r.Failures))
	}
	return t
}

// smartTable is what the drives told of themselves before and after the run; without rows where
// none did.
func smartTable(drives []monitor.SMART) table {
	t := newTable("The drives' own statistics (SMART), over the whole run",
		"drive", "written to it MB", "°C before", "°C after", "wear %", "held back by heat")
	scaled := func(v *float64, scale float64) string {
		return orDash(scale**cmp.Or(v, new(math.NaN())), figure)
	}
	for _, d := range drives {
		name := d.Drive
		if d.Model != "" {
			name += ", " + d.Model
		}
		throttled := d.Throttled
		if throttled == "" && (d.After.Throttles != nil || d.After.HotMinutes != nil) {
			throttled = "no"
		}
		t.row(
			name,
			scaled(d.HostBytes, 1e-6),
			scaled(d.Before.Temperature, 1),
			scaled(d.After.Temperature, 1),
			scaled(d.After.Wear, 100),
			throttled,
		)
	}
	return t
}

// logTable is the log of a run, where its workload has it in the report: the last lines of it.
func logTable(s result.Summary) table {
	t := newWords("Log of the run", "at UTC", "message")
	for _, line := range s.Log {
		at, message, _ := strings.Cut(line, " ") // time=2026-11-21T04:00:00.000Z
		_, clock, _ := strings.Cut(at, "T")
		t.row(strings.TrimSuffix(clock, "Z"), message)
	}
	return t
}

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

func environmentTable(s result.Summary) table {
	t := list("Environment")
	if m := s.Machine; m != nil {
		t.Rows = [][]string{{"machine", m.Hostname}, {"system", m.System}, {"kernel", m.Kernel}}
		if m.Processors > 0 {
			t.row(
				"processors",
				strings.TrimSpace(fmt.Sprintf("%d × %s", m.Processors, m.Processor)),
			)
		}
		if m.MemoryBytes > 0 {
			t.row("memory", numbers.Decimals(float64(m.MemoryBytes)/1e9, 1)+" GB")
		}
		if fs := m.FileSystem; fs != nil {
			t.add(
				"file system",
				"%s at %s (%s)",
				fs.Type,
				fs.MountPoint,
				strings.Join(fs.Options, ","),
			)
		}
		for _, d := range m.Drives {
			roles := ""
			for _, role := range d.Roles {
				roles += ", " + string(role)
			}
			if d.File {
				t.row("file "+d.Name, "as its server counts"+roles)
				continue
			}
			kind := "solid state"
			if d.Rotational {
				kind = "rotating"
			}
			size := numbers.Decimals(float64(d.Bytes)/1e9, 0)
			t.row("drive "+d.Name, strings.TrimSpace(
				fmt.Sprintf(
					"%s %s GB, %s%s, scheduler %s",
					d.Model,
					size,
					kind,
					roles,
					d.Scheduler,
				),
			))
		}
	}
	for i, server := range s.Servers {
		t.row("server of "+s.Targets[i], server.Version)
		for _, name := range slices.Sorted(maps.Keys(server.Settings)) {
			t.row("setting "+name, server.Settings[name])
		}
	}
	t.Rows = slices.DeleteFunc(t.Rows, func(row []string) bool { return row[1] == "" }) // not known
	return t
}

// powerNote says what the run took; empty where not measured.
func powerNote(s result.Summary) string {
	p := s.Power
	if p == nil || p.Active == nil {
		return ""
	}
	text := fmt.Sprintf("Power: %s W in the window", figure(*p.Active))
	if p.Idle != nil {
		text += fmt.Sprintf(", %s W idle", figure(*p.Idle))
	}
	if f := s.Figure; f != nil && f.PerWatt != nil {
		text += fmt.Sprintf(", %s %s per watt", figure(*f.PerWatt), f.Unit)
	}
	return sentence(text)
}

// sentence ends a text with a full stop.
func sentence(text string) string { return strings.TrimRight(text, ".") + "." }
