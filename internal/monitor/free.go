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
	if dir, ok = t.reachFile(dir); !ok {
		return 0, "", "", false
	}
	dir = nearestReachable(dir)
	mount, _ = diskspace.MountPoint(dir)
	bytes, ok = diskspace.Free(dir)
	return bytes, "", mount, ok
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

// reachFile is the path by which a file of the server is reached from here; false where its file systems
// cannot be read.
func (t target) reachFile(path string) (string, bool) {
	for _, file := range t.Files {
		if file.Process != 0 {
			reached, err := topology.Root.Reach(file.Process, path)
			return reached, err == nil
		}
	}
	return path, true
}

// Room is a file system of this machine that holds files of the databases.
type Room struct {
	Mount string
	Size  int64 // bytes
}

// Rooms are the file systems of this machine that hold files of the databases.
func (w *Observer) Rooms() (all []Room) {
	for _, t := range w.targets {
		for _, file := range t.Files {
			path, ok := t.reachFile(file.Path)
			if !ok {
				continue
			}
			mount, ok := diskspace.MountPoint(nearestReachable(path))
			size, known := diskspace.Size(mount)
			known = known && ok && t.here
			if known && !slices.ContainsFunc(all, func(r Room) bool { return r.Mount == mount }) {
				all = append(all, Room{mount, size})
			}
		}
	}
	return all
}
