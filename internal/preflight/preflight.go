// Package preflight looks, before a run, at what could go wrong with it in its first minutes. It changes nothing. The
// engines know what a server needs (store.Capabilities), package monitor what can be observed; here stands what only
// both together say, and what concerns this machine. How a finding looks is for the command line.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ds2/internal/diskspace"
	"ds2/internal/monitor"
	"ds2/internal/store"
)

// Server examines the server of one target, as far as its engine knows how to.
func Server(ctx context.Context, s store.Database, users int) (store.Examination, error) {
	e := store.Examination{LogGrowth: -1}
	examine := s.Can().Examine
	if examine == nil {
		return e, nil
	}
	found, err := examine(ctx, users)
	for i := range found.Findings {
		found.Findings[i].What += " of " + s.Label()
	}
	return found, err
}

// Load is how much a run may write.
type Load struct {
	Growth float64       // of a target, in bytes a second
	Length time.Duration // 0: until stopped
}

const (
	leastRoom      = 256 << 20
	recordBytes    = 16 << 20 // with a journal, or of days
	descriptorsOwn = 100
)

// growth is what the database may grow by; an hour's where nobody knows how long the run is.
func (l Load) growth() int64 {
	length := l.Length
	if length == 0 {
		length = time.Hour
	}
	return int64(l.Growth * length.Seconds())
}

// Target is a database of a run, and what its server may write.
type Target struct {
	Label     string
	Files     []monitor.File
	LogGrowth int64 // bytes; negative: nobody knows
	// Free tells how much is free in a directory of the server's machine, and which file system of which machine that
	// is.
	Free func(dir string) (bytes int64, machine, mount string, ok bool)
}

// Room looks whether the servers' drives have room for what the run adds to all targets and for their logs.
func Room(targets []Target, l Load) (all []store.Finding) {
	type place struct {
		what            string
		free, data, log int64
		logs            map[string]bool // by path: databases of one server have one log
	}
	places := map[string]*place{}
	var keys []string
	warn := func(t Target, found, do string) {
		all = append(all, store.Finding{What: "room of " + t.Label, State: store.Warning, Found: found, Do: do})
	}
	for _, t := range targets {
		if len(t.Files) == 0 {
			warn(t, "the server does not tell where its files are", "look yourself whether there is room")
		}
		grown := map[string]bool{} // by place
		for _, file := range t.Files {
			bytes, machine, mount, ok := t.Free(file.Path)
			if !ok {
				warn(t, fmt.Sprintf("how much is free in %s is not known", file.Path), "look yourself, or name an exporter of its machine by --exporter")
				break
			}
			key := machine + " " + mount
			p := places[key]
			if p == nil {
				p = &place{what: mount, free: bytes, logs: map[string]bool{}}
				places[key], keys = p, append(keys, key)
			}
			switch {
			case file.Role == monitor.Log && !p.logs[file.Path]:
				p.logs[file.Path] = true
				p.log += max(t.LogGrowth, 0)
			case file.Role != monitor.Log && !grown[key]:
				grown[key] = true
				p.data += l.growth()
			}
		}
	}
	for _, key := range keys {
		p := places[key]
		f := store.Finding{What: "room on " + p.what, State: store.OK, Found: fmt.Sprintf("%d MB are free", p.free/1e6)}
		if p.log > 0 {
			f.Found += fmt.Sprintf("; the log may grow by %d MB", p.log/1e6)
		}
		if p.data > 0 {
			f.Found += fmt.Sprintf("; the run may add %d MB", p.data/1e6)
		}
		switch {
		case p.free < p.log+leastRoom:
			f.State, f.Do = store.Failure, "make room there: a server whose drive is full goes down"
		case p.free < p.log+p.data+leastRoom:
			f.State, f.Do = store.Warning, "make room there, or take a shorter run or fewer users"
		}
		all = append(all, f)
	}
	return all
}

// Observed says what of the machines and databases can be observed, and what makes a run a poor test of storage.
func Observed(o *monitor.Observer) []store.Finding {
	var all []store.Finding
	for _, note := range o.Notes {
		all = append(all, store.Finding{What: "counters", State: store.Warning, Found: note, Do: "see ds2 drive --help for --exporter and --devices"})
	}
	if m := o.Machine; m != nil {
		found := "of the database machine are observed"
		for i, d := range m.Drives {
			if o.Unplaced != "" { // which names them
				break
			}
			found += []string{", and its drives ", ", "}[min(i, 1)] + d.Name
		}
		all = append(all, store.Finding{What: "counters", State: store.OK, Found: found})
	}
	for _, reads := range o.Reads {
		all = append(all, store.Finding{What: "reads", State: store.Warning, Found: reads, Do: "load a larger size, or give the server less memory"})
	}
	settings := store.Finding{What: "settings", State: store.OK, Found: "nothing that distorts a test of storage was found"}
	for _, warning := range o.Distorting {
		all = append(all, store.Finding{What: "settings", State: store.Warning, Found: warning, Do: "change it, or say so beside the result"})
		settings.Found = ""
	}
	if settings.Found != "" {
		all = append(all, settings)
	}
	return all
}

// Record looks whether the record can be written into a directory, which may not exist yet.
func Record(dir string) store.Finding {
	failure := func(found string) store.Finding {
		return store.Finding{What: "record", State: store.Failure, Found: found, Do: "give another directory by --out"}
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return failure(dir + " is not empty")
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return failure(err.Error())
	}
	above := dir
	for {
		info, err := os.Stat(above)
		if err == nil && !info.IsDir() {
			return failure(above + " is no directory")
		}
		if err == nil || filepath.Dir(above) == above {
			break
		}
		above = filepath.Dir(above)
	}
	if err := writable(above); err != nil {
		return failure(fmt.Sprintf("%s cannot be written to: %v", above, err))
	}
	f := store.Finding{What: "record", State: store.OK, Found: "goes into " + dir}
	if free, ok := diskspace.Free(above); ok {
		f.Found += fmt.Sprintf(", with %d MB free", free/1e6)
		if free < recordBytes {
			f.State, f.Do = store.Warning, "make room there, or give another directory by --out"
		}
	}
	return f
}

// Descriptors looks whether this process may have as many connections as the users need.
func Descriptors(users int) (f store.Finding, known bool) {
	most, ok := openFiles()
	if !ok {
		return f, false
	}
	f = store.Finding{What: "open files", State: store.OK, Found: fmt.Sprintf("this process may have %d", most)}
	if most < uint64(users+descriptorsOwn) {
		f.State, f.Do = store.Failure, fmt.Sprintf("raise the limit to %d or more: ulimit -Hn, or LimitNOFILE of a service", users+descriptorsOwn)
	}
	return f, true
}
