package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"ds2/internal/diskspace"
	"ds2/internal/process"
)

// askIdentity gives by what the process of the session and the files of its server are known. Who
// may not read all settings is not told the directory of the data.
var askIdentity = query("server/this-process")

// Here says whether the server runs on this machine: monitor.Locator.
func (s *Store) Here(ctx context.Context) bool {
	here, _ := isHere(s.db.QueryRowContext(ctx, askIdentity))
	return here
}

// isHere looks for the process of a session among those of this machine, by its answer to
// askIdentity, and for the cluster's files, which are in data; where the server does not tell that,
// it is empty.
func isHere(identity pgx.Row) (here bool, data string) {
	var pid int // in the server's own container
	var age float64
	var system string
	var standby bool
	if err := identity.Scan(&pid, &age, &data, &system, &standby); err != nil {
		return false, ""
	}
	_, _, err := process.Find(process.Dir, pid, "postgres", time.Duration(age*float64(time.Second)))
	return err == nil || data != "" && holdsCluster(data, system, standby), data
}

// littleRoom is what a server cannot go on with: less than the next two files of its log need.
const littleRoom = 32 << 20

// inTablespace finds the tablespace in the name of a file of the server's.
var inTablespace = regexp.MustCompile(`pg_tblspc/(\d+)/`)

// whereFull says where room is missing: the server names a file, and that from its data directory
// on.
func (s *Store) whereFull(message string) string {
	var space string
	if found := inTablespace.FindStringSubmatch(message); found != nil {
		space = found[1]
	}
	return s.hints.findOnce("full "+space, func() string {
		dir, _ := s.data.Load().(string)
		if space != "" {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			// Where that fails, the directory stays.
			s.db.QueryRowContext(ctx, "SELECT pg_tablespace_location($1::text::oid)", space).
				Scan(&dir)
		}
		if dir == "" {
			return causes.Find(diskFull).Hint
		}
		return "make room on the server's file system that holds " + s.findMountPoint(dir)
	})
}

// findMountPoint is a directory of the server's with the mount point of its file system, where the
// server is on this machine.
func (s *Store) findMountPoint(dir string) string {
	if s.here.Load() {
		if mount, ok := diskspace.MountPoint(dir); ok {
			return fmt.Sprintf("%s (mounted at %s)", dir, mount)
		}
	}
	return dir
}

// askAgain is how long what is known of a full drive stands: all sessions of a server that goes
// down ask at once, and one that asks late finds room again, as the server has removed its
// temporary files.
const askAgain = 5 * time.Second

// hints are what was found of drives once, for all who ask for a while after.
type hints struct {
	mu    sync.Mutex
	found map[string]string
	at    time.Time // when the first of them was asked for
}

// findOnce finds what there is to say of something, unless that was done lately.
func (h *hints) findOnce(of string, find func() string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.at) >= askAgain {
		h.found = map[string]string{}
		h.at = time.Now()
	}
	text, known := h.found[of]
	if !known {
		text = find()
		h.found[of] = text
	}
	return text
}

// fullDrive says, of a server on this machine that closed its connections, that it has no room
// left; empty where it has, or unknown. A server that cannot write its log goes down.
func (s *Store) fullDrive() string {
	data, ok := s.data.Load().(string)
	if !ok || !s.here.Load() {
		return ""
	}
	return s.hints.findOnce("down", func() string {
		for _, dir := range []string{filepath.Join(data, "pg_wal"), data} {
			if free, ok := diskspace.Free(dir); ok && free < littleRoom {
				return fmt.Sprintf("only %d MB are free on the server's file system that holds %s: make room there, and start the server if it went down",
					free/1e6, s.findMountPoint(dir))
			}
		}
		return ""
	})
}

// holdsCluster says whether a directory of this machine has the files of the cluster, by the first
// fields of pg_control, which are in the byte order of the server's machine. A standby beside its
// tunnel has the identifier too, and another state.
func holdsCluster(data, system string, standby bool) bool {
	control, err := os.Open(filepath.Join(data, "global", "pg_control"))
	if err != nil {
		return false
	}
	defer control.Close()
	var head [20]byte
	if _, err := io.ReadFull(control, head[:]); err != nil {
		return false
	}
	const inProduction = 6
	state := binary.NativeEndian.Uint32(head[16:])
	return strconv.FormatUint(binary.NativeEndian.Uint64(head[:]), 10) == system &&
		(state == inProduction) != standby
}
