package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ds2/internal/result"
)

func environmentTable(s result.Summary) table {
	t := list("Environment")
	add := func(name, value string) {
		if value != "" {
			t.row(name, value)
		}
	}
	if m := s.Machine; m != nil {
		add("machine", m.Hostname)
		add("system", m.System)
		add("kernel", m.Kernel)
		if m.Processors > 0 {
			add("processors", strings.TrimSpace(fmt.Sprintf("%d × %s", m.Processors, m.Processor)))
		}
		if m.MemoryBytes > 0 {
			add("memory", number(float64(m.MemoryBytes)/1e9, 1)+" GB")
		}
		if fs := m.FileSystem; fs != nil {
			add("file system", fmt.Sprintf("%s at %s (%s)", fs.Type, fs.MountPoint, strings.Join(fs.Options, ",")))
		}
		for _, d := range m.Drives {
			what, kind := "drive ", "solid state"
			if d.Rotational {
				kind = "rotating"
			}
			if d.File {
				what, kind = "file ", "as its server counts"
			}
			if len(d.Roles) > 0 {
				kind += ", " + joined(d.Roles)
			}
			if !d.File {
				size := number(float64(d.Bytes)/1e9, 0)
				kind = strings.TrimSpace(fmt.Sprintf("%s %s GB, %s, scheduler %s", d.Model, size, kind, d.Scheduler))
			}
			add(what+d.Name, kind)
		}
	}
	for i, server := range s.Servers {
		add("server of "+s.Targets[i], server.Version)
		for _, name := range slices.Sorted(maps.Keys(server.Settings)) {
			add("setting "+name, server.Settings[name])
		}
	}
	return t
}

// powerNote says what the run took; empty where nobody measured.
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
