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
func Server(
	ctx context.Context, s store.Database, users int,
) (e store.Examination, all []Finding, err error) {
	engine, ok := s.(Examiner)
	if !ok {
		return store.Examination{LogGrowth: -1}, nil, nil
	}
	e, err = engine.Examine(ctx, users)
	for _, f := range e.Findings {
		finding := NewFinding(Kind(f.Kind.Name()), s.Label(), f.Detail, f.More)
		if f.Unasked != nil {
			finding = NewFinding(notAsked, finding.What, f.Unasked.Error())
		}
		all = append(all, finding)
	}
	return e, all, err
}

// A run needs the connections of all its users at once. connecting is how many connections are
// opened at a time, and connectTime how long one more may take until the rest is not waited for.
const (
	connecting  = 16
	connectTime = 15 * time.Second
)

// Connect opens as many connections to a database as a run's users will, at once: a pooler in front
// of its server may have fewer.
func Connect(ctx context.Context, s store.Database, users int) Finding {
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
	return NewFinding(kind, s.Label(), fmt.Sprintf("%d of %d", opened.Load(), users))
}

const (
	// leastRoom is what a server's drive should have free beyond the growth of the log: PostgreSQL
	// ends with a PANIC where it cannot write that, and a file of data that cannot grow fails
	// orders.
	leastRoom = 256 << 20
	// recordBytes is what the record of a run takes with a journal, or of days.
	recordBytes = 16 << 20
	// descriptorsOwn are the files and connections of ds2 itself beside one for each user: the
	// record's files, the pools for counters, the page that is served, and exporters.
	descriptorsOwn = 100
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
	// Two servers may have file systems of one name; those of one machine share what is free.
	machine, mount string
	free           int64 // bytes
	// by how much each may grow, by path: databases of one server have one log
	logs map[string]int64
}

// Room looks whether the servers' drives have room for their logs. How fast a run fills them shows
// only when it is under way, and ends it in time.
func Room(targets []Target) (all []Finding) {
	var places []place
	for _, t := range targets {
		if len(t.Files) == 0 {
			all = append(all, NewFinding(filesUnknown, t.Label, ""))
		}
		for _, file := range t.Files {
			bytes, machine, mount, ok := t.Free(file.Path)
			if !ok {
				all = append(all, NewFinding(roomUnknown, t.Label, file.Path))
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
		room := numbers.Bytes(p.free) + " are free"
		if log > 0 {
			room += "; the log may grow by " + numbers.Bytes(log)
		}
		kind := roomEnough
		if p.free < log+leastRoom {
			kind = roomTooSmall
		}
		all = append(all, NewFinding(kind, p.mount, room))
	}
	return all
}

// Observed says what of the machines and databases can be observed, and what makes a run a poor
// test of storage.
func Observed(o *monitor.Observer) (all []Finding) {
	for _, note := range o.Notes {
		all = append(all, NewFinding(notCounted, "", note))
	}
	distorts := false
	for _, f := range o.Found {
		all = append(all, observed(f))
		distorts = distorts || f.Kind == monitor.Distorted
	}
	if m := o.Machine; m != nil {
		and := ""
		if o.Unplaced == "" && len(m.Drives) > 0 { // which names them
			and = " and drives " + strings.Join(m.DriveNames(), ", ")
		}
		all = append(all, NewFinding(counted, "", and))
	}
	if !distorts {
		all = append(all, NewFinding(notDistorted, "", ""))
	}
	return all
}

// observed is what was found of a target or of what is observed: what withholds a run's result
// fails.
func observed(found monitor.Found) Finding {
	f := result.Observed(found)
	if kind := Kind(f.Kind); kinds[kind].Kind != "" { // here it says what to do
		return NewFinding(kind, "", f.Words())
	}
	state := Warning
	if f.Effect.Worse(result.Reserves) {
		state = Failure
	}
	// The words of a result's finding say after a colon what to do about it.
	words, do, _ := strings.Cut(f.Words(), ": ")
	return Finding{"drives", state, words, do, Kind(f.Kind), 0}
}

// Record looks, without writing, whether the record can be written into a directory, which may not
// exist yet.
func Record(dir string) Finding {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return NewFinding(recordRefused, "", dir+" is not empty")
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return NewFinding(recordRefused, "", err.Error())
	}
	// What is missing of the path will be made below the first directory that is there.
	above := dir
	info, err := os.Stat(above)
	for err != nil && filepath.Dir(above) != above {
		above = filepath.Dir(above)
		info, err = os.Stat(above)
	}
	if err == nil && !info.IsDir() {
		return NewFinding(recordRefused, "", above+" is no directory")
	}
	if err := writable(above); err != nil {
		why := fmt.Sprintf("%s cannot be written to: %v", above, err)
		return NewFinding(recordRefused, "", why)
	}
	free, known := diskspace.Free(above)
	if known {
		dir += ", with " + numbers.Bytes(free) + " free"
	}
	kind := recordPlace
	if known && free < recordBytes {
		kind = recordTooSmall
	}
	return NewFinding(kind, "", dir)
}

// Descriptors looks whether this process may have as many connections as the users need.
func Descriptors(users int) (f Finding, known bool) {
	most, known := readOpenFiles()
	least := users + descriptorsOwn
	kind := openFiles
	switch {
	case most < uint64(users):
		kind = tooFewOpenFiles
	case most < uint64(least):
		kind = fewOpenFiles
	}
	return NewFinding(kind, "", fmt.Sprint(most), fmt.Sprint(least)), known
}
