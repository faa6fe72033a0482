package monitor

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"ds2/internal/diskspace"
	"ds2/internal/store"
	"ds2/internal/topology"
)

// Free is how many bytes are free in a directory of a target's machine, and which file system of
// which machine that is, empty for this one; false where that cannot be seen: the target is
// elsewhere and its machine's exporter does not tell, or only the server sees the file.
func (w *Observer) Free(
	of store.Database,
	dir string,
) (bytes int64, machine, mount string, ok bool) {
	t := w.targets[slices.IndexFunc(w.targets, func(t target) bool { return t.Database == of })]
	if e := w.exporters.of(t); e != nil {
		free, mount, known := e.Free(dir)
		return free, e.URL.String(), mount, known
	}
	if !t.here {
		return 0, "", "", false
	}
	room, ok := t.findRoom(dir)
	if !ok {
		return 0, "", "", false
	}
	bytes, ok = diskspace.Free(room.Dir)
	return bytes, "", room.Mount, ok
}

// nearestReachable is the directory, or the one above it that is not closed: a server's own is, and
// what is in it lies where it does itself.
func nearestReachable(dir string) string {
	_, err := os.Stat(dir)
	for errors.Is(err, fs.ErrPermission) && dir != path.Dir(dir) {
		dir = path.Dir(dir)
		_, err = os.Stat(dir)
	}
	return dir
}

// Room is a file system of this machine that holds files of the databases.
type Room struct {
	Mount string // as the server has it
	Dir   string // the same, to be asked from here
	Size  int64  // bytes
}

// findRoom finds the file system of a server's file; false where it cannot be seen from here.
func (t target) findRoom(path string) (r Room, ok bool) {
	process := 0
	for _, file := range t.Files {
		process = max(process, file.Process) // all have the same
	}
	mountOf := diskspace.MountPoint
	if process != 0 {
		reached, err := topology.Root.Reach(process, path)
		if err != nil {
			return r, false
		}
		path = reached
		mountOf = diskspace.MountOf // else the link to the server's root would lead to that of ds2
	}
	if r.Dir, ok = mountOf(nearestReachable(path)); !ok {
		return r, false
	}
	r.Mount = topology.Root.Inside(process, r.Dir)
	r.Size, ok = diskspace.Size(r.Dir)
	return r, ok
}

// Rooms are the file systems of this machine that hold files of the databases.
func (w *Observer) Rooms() (all []Room) {
	for _, t := range w.targets {
		for _, file := range t.Files {
			room, ok := t.findRoom(file.Path)
			if ok && t.here && !slices.Contains(all, room) {
				all = append(all, room)
			}
		}
	}
	return all
}
