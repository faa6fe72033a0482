package upkeep

import (
	"context"
	"fmt"

	"ds2/internal/load"
	"ds2/internal/progress"
	"ds2/internal/store"
)

// Snapshotter is an engine that keeps a copy of a whole database beside it. There is at most one.
type Snapshotter interface {
	// CreateSnapshot makes the copy, in the place of an older one, which is kept until the new one
	// is whole: whenever it is cut off, one of the two is there. The database must be idle.
	CreateSnapshot(ctx context.Context, how store.Copying) error

	// RestoreSnapshot puts the copy in the database's place; whoever is connected to it is
	// disconnected. The copy stays. What was set for the database, such as settings, rights and its
	// owner, is as before, as far as Copying.Warn is not told otherwise.
	RestoreSnapshot(ctx context.Context, how store.Copying) error

	// DropSnapshot removes the copy.
	DropSnapshot(ctx context.Context) error
}

// SnapshotWork is one of the things that are done with the copy of a database.
type SnapshotWork string

// What is done with the copy of a database.
const (
	SnapshotCreate  SnapshotWork = "create"
	SnapshotRestore SnapshotWork = "restore"
	SnapshotDrop    SnapshotWork = "drop"
)

// Snapshot does something with the copy of a database. A copy for which there is no room on the
// drives of a server on this machine is refused before anything is dropped for it. Say is told what
// the copy takes, what the server's drives have, and what could not be kept.
func Snapshot(
	ctx context.Context,
	s store.Database,
	work SnapshotWork,
	show progress.View,
	say func(string),
) error {
	warn := func(what string) { say("snapshot: " + what) }
	snapshotter, ok := s.(Snapshotter)
	if !ok {
		return store.Unsupported(s, "snapshots")
	}
	if work == SnapshotCreate {
		info, err := store.ReadInfo(ctx, s.DB())
		if err != nil {
			return s.Wrap("look at "+s.Label(), err)
		}
		if err := info.CheckReady(); err != nil {
			return fmt.Errorf("copy %s: %w", s.Label(), err)
		}
	}
	if work != SnapshotDrop {
		if err := checkRoom(ctx, s, work, warn); err != nil {
			return err
		}
	}
	tell, stop := show("snapshot", progress.Bytes)
	defer stop()
	how := store.Copying{Tell: tell, Warn: warn}
	switch work {
	case SnapshotCreate:
		return snapshotter.CreateSnapshot(ctx, how)
	case SnapshotRestore:
		return snapshotter.RestoreSnapshot(ctx, how)
	}
	return snapshotter.DropSnapshot(ctx)
}

// checkRoom says what room a copy takes and what there is, and is an error where it is known not to
// suffice.
func checkRoom(ctx context.Context, s store.Database, work SnapshotWork, say func(string)) error {
	engine, ok := s.(load.Sizer)
	if !ok {
		return nil
	}
	room, err := engine.SnapshotRoom(ctx)
	if err != nil {
		return nil // of a database that is half restored it may not be known
	}
	needs := room.Database
	freed := int64(0)
	if work == SnapshotRestore { // which drops the database first
		needs = room.Copy
		freed = room.Database
	}
	if needs == 0 {
		return nil
	}
	// Beside the files the server writes directories and, mostly to the same drive, its log.
	least := needs + needs/100 + 16<<20
	takes := fmt.Sprintf("a copy takes %.1f GB on the server's drives", float64(needs)/1e9)
	free, where, known := room.Free()
	if !known {
		say(takes)
		return nil
	}
	free += freed
	there := fmt.Sprintf("there is room for %.1f GB in %s", float64(free)/1e9, where)
	if free < least {
		op := fmt.Sprintf("snapshot %s %s", work, s.Label())
		const hint = "make room there, by ds2 snapshot drop if there is an older copy, or use ds2 reset, which needs none"
		return store.Resource.Fail(op, hint, "%s, and %s", takes, there)
	}
	say(takes + "; " + there)
	return nil
}
