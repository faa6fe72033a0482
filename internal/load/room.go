package load

import (
	"context"
	"errors"
	"fmt"

	"github.com/docker/go-units"

	"ds2/internal/diskspace"
	"ds2/internal/store"
)

// growth is the part of a dataset's size that should stay free for what runs add, as Jetstress keeps a quarter
// (mailbox/WORKLOAD.md section 1).
const growth = 0.25

// checkRoom refuses a dataset whose size in bytes was asked for and that is known not to fit on the server's drives.
// That is known of a server on this machine that says where its files are. What the database holds already, where it is
// replaced or continued, counts as free.
func (l *loader) checkRoom(ctx context.Context, held bool) error {
	needs := l.params.Bytes
	snapshots := l.engine.Can().Snapshots
	if snapshots == nil || needs == 0 {
		return nil
	}
	room, err := snapshots.SnapshotRoom(ctx)
	if err != nil || !room.Here {
		return nil // who may not ask loads nevertheless
	}
	free, known := diskspace.FreeOf(room.Directories)
	if !known {
		return nil
	}
	if held {
		free += room.Database
	}
	where := room.Directories[0]
	if mount, ok := diskspace.MountPoint(where); ok {
		where += ", on the file system " + mount
	}
	said := fmt.Sprintf("%s take %s, and there is room for %s in %s",
		l.options.Dataset, units.HumanSize(float64(needs)), units.HumanSize(float64(free)), where)
	switch {
	case free < needs:
		op := "look for room on the drives of " + l.engine.Label()
		return &store.Error{Op: op, Class: store.Resource, Err: errors.New(said), Hint: "make room there, or load less"}
	case float64(free) < float64(needs)*(1+growth):
		l.report.Growth = said + ": less than a quarter of their size is left for what runs add"
	}
	return nil
}
