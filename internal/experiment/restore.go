package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"ds2/internal/diskspace"
	"ds2/internal/load"
	"ds2/internal/monitor"
	"ds2/internal/shell"
	"ds2/internal/store"
)

// The ways in which databases are restored before each of several runs.
const (
	RestoreReset    = "reset"
	RestoreSnapshot = "snapshot"
	RestoreNone     = "none"
	restoreCommand  = "command"
)

// Restore is how databases get back to where every run starts.
type Restore struct {
	Way        string // RestoreReset, RestoreSnapshot or RestoreNone
	Command    string // of the shell, instead of Way
	DiscardLog bool   // see Reset
	Output     io.Writer

	// Steps shows what a reset is at.
	Steps func() (tell store.Tell, stop func())
	// Copying shows that a copy is being put in a database's place.
	Copying CopyView
}

// Name is the way as a record tells it.
func (r Restore) Name() string {
	if r.Command != "" {
		return restoreCommand
	}
	return r.Way
}

// Do restores the targets, one after the other.
func (r Restore) Do(ctx context.Context, targets []store.Store) error {
	if r.Command != "" {
		if err := shell.Run(ctx, r.Command, r.Output, r.Output); err != nil {
			return fmt.Errorf("run restore command: %w", err)
		}
		return nil
	}
	for _, target := range targets {
		if err := r.one(ctx, target); err != nil {
			return err
		}
	}
	return nil
}

func (r Restore) one(ctx context.Context, target store.Store) error {
	switch r.Way {
	case RestoreReset:
		return Reset(ctx, target, r.DiscardLog, r.Steps)
	case RestoreSnapshot:
		return Snapshot(ctx, target, SnapshotRestore, r.Copying)
	}
	return nil
}

// Reset takes a database back to the state after the load. Where the server keeps its log and half of it or more is in use,
// the next run would have to grow it and stop for that: it is refused unless the log is to be discarded.
func Reset(ctx context.Context, s store.Store, discardLog bool, steps func() (store.Tell, func())) error {
	if keeper, ok := s.(store.LogKeeper); ok {
		if discardLog {
			if err := keeper.DiscardLog(ctx); err != nil {
				return err
			}
		}
		size, used, kept, err := keeper.LogSpace(ctx)
		if err != nil {
			return err
		}
		if kept && used > size/2 {
			return &store.Error{Op: "reset " + s.Label(), Class: store.Config,
				Err:  fmt.Errorf("more than half of its log, %d MB of %d MB, is in use, and only a backup of the log frees it", used/1e6, size/1e6),
				Hint: "back the log up, or add --discard-log to back it up to NUL"}
		}
	}
	tell, stop := steps()
	defer stop()
	return load.Reset(ctx, s, tell)
}

// SnapshotWork is one of the things that are done with the copy of a database.
type SnapshotWork struct {
	Name string
	do   func(context.Context, store.Snapshotter, store.Tell) error
	// needs is the room that it takes on the server's drives, and frees what it gives back before; nil: none.
	needs, frees func(store.SnapshotRoom) int64
	loaded       bool // the database's load must have come to its end
}

// What is done with the copy of a database.
var (
	SnapshotCreate = SnapshotWork{"create",
		func(ctx context.Context, s store.Snapshotter, tell store.Tell) error {
			return s.CreateSnapshot(ctx, tell)
		},
		func(r store.SnapshotRoom) int64 { return r.Database }, func(store.SnapshotRoom) int64 { return 0 }, true}
	SnapshotRestore = SnapshotWork{"restore",
		func(ctx context.Context, s store.Snapshotter, tell store.Tell) error {
			return s.RestoreSnapshot(ctx, tell)
		},
		func(r store.SnapshotRoom) int64 { return r.Copy }, func(r store.SnapshotRoom) int64 { return r.Database }, false}
	SnapshotDrop = SnapshotWork{"drop",
		func(ctx context.Context, s store.Snapshotter, _ store.Tell) error { return s.DropSnapshot(ctx) }, nil, nil, false}
)

// CopyView shows how the work on a copy goes on, until stop is called. Room says what the copy takes, and what the server's
// drives have; empty where no copy is made.
type CopyView func(room string) (tell store.Tell, stop func())

// Snapshot does something with the copy of a database. A copy for which there is no room on the drives of a server on this
// machine is refused before anything is dropped for it.
func Snapshot(ctx context.Context, s store.Store, work SnapshotWork, show CopyView) error {
	snapshotter, ok := s.(store.Snapshotter)
	if !ok {
		return fmt.Errorf("snapshot %s: %s databases have no snapshots", s.Label(), s.Engine())
	}
	if work.loaded {
		info, err := store.ReadInfo(ctx, s.DB())
		if err != nil {
			return s.Wrap("look at "+s.Label(), err)
		}
		if err := info.CheckReady(); err != nil {
			return fmt.Errorf("copy %s: %w", s.Label(), err)
		}
	}
	said := ""
	if work.needs != nil {
		var err error
		if said, err = checkRoom(ctx, s, snapshotter, work); err != nil {
			return err
		}
	}
	tell, stop := show(said)
	defer stop()
	return work.do(ctx, snapshotter, tell)
}

// checkRoom says what room a copy takes and what there is, and is an error where it is known not to suffice.
func checkRoom(ctx context.Context, s store.Store, snapshotter store.Snapshotter, work SnapshotWork) (said string, err error) {
	room, err := snapshotter.SnapshotRoom(ctx)
	if err != nil {
		return "", nil // of a database that is half restored it may not be known
	}
	needs := work.needs(room)
	if needs == 0 {
		return "", nil
	}
	// Beside the files the server writes directories and, mostly to the same drive, its log.
	least := needs + needs/100 + 16<<20
	said = fmt.Sprintf("a copy takes %.1f GB on the server's drives", float64(needs)/1e9)
	free, known := int64(0), false
	if monitor.IsLocal(monitor.HostOf(s.Label())) {
		free, known = diskspace.FreeOf(room.Directories)
	}
	if !known {
		return said, nil
	}
	free += work.frees(room)
	where := strings.Join(room.Directories, " and ")
	if mount, ok := diskspace.MountPoint(room.Directories[0]); ok && len(room.Directories) == 1 {
		where += ", on the file system " + mount
	}
	if free < least && !room.Clones {
		return "", &store.Error{Op: fmt.Sprintf("snapshot %s %s", work.Name, s.Label()), Class: store.Resource,
			Err:  fmt.Errorf("%s, and there is room for %.1f GB in %s", said, float64(free)/1e9, where),
			Hint: "make room there, by ds2 snapshot drop if there is an older copy, or use ds2 reset, which needs none"}
	}
	return fmt.Sprintf("%s; there is room for %.1f GB in %s", said, float64(free)/1e9, where), nil
}

// VerdictError says that a run was made, and cannot be used.
type VerdictError struct{ Err error }

func (e *VerdictError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *VerdictError) Unwrap() error { return e.Err }

var errNoFigures = errors.New("the run gave no figures")
