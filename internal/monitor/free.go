package monitor

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"

	"ds2/internal/diskspace"
	"ds2/internal/store"
)

// Free is how many bytes are free in a directory of a target's machine, and which file system of which machine that is,
// empty for this one; false where that cannot be seen: the target is elsewhere and its machine's exporter does not
// tell, or nobody but the server sees the file.
func (w *Observer) Free(t store.Database, dir string) (bytes int64, machine, mount string, ok bool) {
	if e := w.exporterOf(t); e != nil {
		free, mount := e.kind.free(e.first, dir)
		return bytesOf(free), e.url, mount, !math.IsNaN(free)
	}
	if !w.here[t] {
		return 0, "", "", false
	}
	// A server's own directory is closed to others; what is in it lies where it does itself.
	for _, err := os.Stat(dir); errors.Is(err, fs.ErrPermission) && dir != path.Dir(dir); _, err = os.Stat(dir) {
		dir = path.Dir(dir)
	}
	if bytes, ok = diskspace.Free(dir); !ok {
		return 0, "", "", false
	}
	if mount, ok = diskspace.MountPoint(dir); !ok {
		mount = dir
	}
	return bytes, "", mount, true
}

func within(path, dir string) bool {
	return dir == "/" || path == dir || strings.HasPrefix(path, dir+"/")
}
