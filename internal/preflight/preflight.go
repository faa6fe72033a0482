// Package preflight looks, before a run, at what could go wrong with it in its first minutes. It
// changes nothing. The engines know what a server needs (Examiner), package monitor what can be
// observed; here stands what only both together say, and what concerns this machine. How a finding
// looks is for the command line.
package preflight

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ds2/internal/diskspace"
	"ds2/internal/monitor"
	"ds2/internal/numbers"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/topology"
)

// Examiner is an engine that asks the server about its version, rights, connections and log. It
// changes nothing. What cannot be asked is a finding too; the error is only about a server that
// cannot be reached.
type Examiner interface {
	Examine(ctx context.Context, users int) (store.Examination, error)
}

// Server examines the server of one target, as far as its engine knows how to.
func Server(ctx context.Context, s store.Database, users int) (store.Examination, error) {
	engine, ok := s.(Examiner)
	if !ok {
		return store.Examination{LogGrowth: -1}, nil
	}
	found, err := engine.Examine(ctx, users)
	for i := range found.Findings {
		f := &found.Findings[i]
		f.What += " of " + s.Label()
		if f.State == store.OK {
			f.Do = ""
		}
	}
	return found, err
}

// connecting is how many connections are opened at a time, and connectTime how long one more may
// take until the rest is not waited for.
const (
	connecting  = 16
	connectTime = 15 * time.Second
)

// Connect opens as many connections to a database as a run's users will, at once: a pooler in front
// of its server may have fewer.
func Connect(ctx context.Context, s store.Database, users int) store.Finding {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waiting := time.AfterFunc(connectTime, cancel)
	var opened atomic.Int64
	var connections errgroup.Group
	connections.SetLimit(connecting)
	all := make(chan *sql.Conn, users) // open until the last is
	for range users {
		connections.Go(func() error {
			conn, err := s.DB().Conn(ctx)
			if err != nil {
				return err
			}
			all <- conn
			if err = conn.PingContext(ctx); err == nil {
				opened.Add(1)
				waiting.Reset(connectTime) // a slow server is waited for, as long as it goes on
			}
			return err
		})
	}
	err := connections.Wait()
	close(all)
	for conn := range all {
		conn.Close() // nothing is left to be said to it
	}
	kind := connected
	if err != nil {
		kind = notConnected
	}
	return kind.makeFinding(s.Label(), opened.Load(), users)
}

const (
	leastRoom      = 256 << 20 // bytes that a server's drive has free beside the growth of its log
	recordBytes    = 16 << 20  // with a journal, or of days
	descriptorsOwn = 100       // files and connections of ds2 beside those of users
)

// Target is a database of a run, and what its server may write.
type Target struct {
	Label     string
	Files     []topology.File
	LogGrowth int64 // bytes; negative: unknown
	// Free tells how much is free in a directory of the server's machine, and which file system of
	// which machine that is.
	Free func(dir string) (bytes int64, machine, mount string, ok bool)
}

// place is a file system of a machine.
type place struct {
	machine, mount string
	free           int64 // bytes
	// by how much each may grow, by path: databases of one server have one log
	logs map[string]int64
}

// Room looks whether the servers' drives have room for their logs. How fast a run fills them shows
// only when it is under way, and ends it in time.
func Room(targets []Target) (all []store.Finding) {
	var places []place
	for _, t := range targets {
		if len(t.Files) == 0 {
			all = append(all, filesUnknown.makeFinding(t.Label))
		}
		for _, file := range t.Files {
			bytes, machine, mount, ok := t.Free(file.Path)
			if !ok {
				all = append(all, roomUnknown.makeFinding(t.Label, file.Path))
				break // once for each database: it is the machine that is not seen
			}
			at := slices.IndexFunc(places, func(p place) bool {
				return p.machine == machine && p.mount == mount
			})
			if at < 0 {
				at = len(places)
				places = append(places, place{machine, mount, bytes, map[string]int64{}})
			}
			if file.Role == topology.Log {
				places[at].logs[file.Path] = max(t.LogGrowth, 0)
			}
		}
	}
	for _, p := range places {
		log := int64(0)
		for _, growth := range p.logs {
			log += growth
		}
		grows := ""
		if log > 0 {
			grows = "; the log may grow by " + numbers.Bytes(log)
		}
		kind := roomEnough
		if p.free < log+leastRoom {
			kind = roomTooSmall
		}
		all = append(all, kind.makeFinding(p.mount, numbers.Bytes(p.free), grows))
	}
	return all
}

// Observed says what of the machines and databases can be observed, and what makes a run a poor
// test of storage.
func Observed(o *monitor.Observer) (all []store.Finding) {
	for _, note := range o.Notes {
		all = append(all, notCounted.makeFinding("", note))
	}
	for _, f := range o.Found {
		all = append(all, observed(f))
	}
	if m := o.Machine; m != nil {
		var drives []string
		for _, d := range m.Drives {
			drives = append(drives, d.Name)
		}
		and := ""
		if o.Unplaced == "" && len(drives) > 0 { // which names them
			and = " and drives " + strings.Join(drives, ", ")
		}
		all = append(all, counted.makeFinding("", and))
	}
	for _, reads := range o.Reads {
		all = append(all, memoryHolds.makeFinding("", reads))
	}
	for _, distorting := range o.Distorting {
		all = append(all, distorted.makeFinding("", distorting))
	}
	if len(o.Distorting) == 0 {
		all = append(all, notDistorted.makeFinding(""))
	}
	return all
}

// observed is what was found of what is observed: what withholds a run's result fails.
func observed(found monitor.Found) store.Finding {
	f := result.Observed(found)
	state := store.Warning
	if f.Effect.Worse(result.Reserves) {
		state = store.Failure
	}
	words, do, _ := strings.Cut(f.Words(), ": ")
	return kind{f.Kind, "drives", state, "%s", do}.makeFinding("", words)
}

// Record looks whether the record can be written into a directory, which may not exist yet.
func Record(dir string) store.Finding {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return recordRefused.makeFinding("", dir+" is not empty")
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return recordRefused.makeFinding("", err.Error())
	}
	// What is missing of the path will be made below the first directory that is there.
	above := dir
	info, err := os.Stat(above)
	for err != nil && filepath.Dir(above) != above {
		above = filepath.Dir(above)
		info, err = os.Stat(above)
	}
	if err == nil && !info.IsDir() {
		return recordRefused.makeFinding("", above+" is no directory")
	}
	if err := writable(above); err != nil {
		return recordRefused.makeFinding("", fmt.Sprintf("%s cannot be written to: %v", above, err))
	}
	free, known := diskspace.Free(above)
	room := ""
	if known {
		room = ", with " + numbers.Bytes(free) + " free"
	}
	kind := recordPlace
	if known && free < recordBytes {
		kind = recordTooSmall
	}
	return kind.makeFinding("", dir, room)
}

// Descriptors looks whether this process may have as many connections as the users need.
func Descriptors(users int) (f store.Finding, known bool) {
	most, known := readOpenFiles()
	least := users + descriptorsOwn
	if most >= uint64(least) {
		return openFiles.makeFinding("", most), known
	}
	f = tooFewOpen.makeFinding("", most)
	f.Do = fmt.Sprintf(f.Do, least)
	if most < uint64(users) {
		f.State = store.Failure
	}
	return f, known
}
