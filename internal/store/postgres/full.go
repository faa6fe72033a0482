package postgres

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"ds2/internal/diskspace"
	"ds2/internal/store/postgres/target"
)

// littleRoom is what a server cannot go on with: less than the next two files of its log need.
const littleRoom = 32 << 20

// inTablespace finds the tablespace in the name of a file of the server's.
var inTablespace = regexp.MustCompile(`pg_tblspc/(\d+)/`)

// whereFull says where room is missing: the server names a file, and that from its data directory on.
func (s *Store) whereFull(message string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	dir, _ := s.data.Load().(string)
	if found := inTablespace.FindStringSubmatch(message); found != nil {
		// Where that fails, the directory stays.
		s.db.QueryRowContext(ctx, "SELECT pg_tablespace_location($1::text::oid)", found[1]).Scan(&dir)
	}
	if dir == "" {
		_, hint := classify(target.DiskFull)
		return hint
	}
	return "make room on the server's file system that holds " + s.mounted(dir)
}

// learnDirectory asks for the server's data directory, and whether it is on this machine: a server that has gone down
// for lack of room can no longer be asked. Who may not read all settings is not told, and has fewer hints.
func (s *Store) learnDirectory(ctx context.Context, conn *pgx.Conn) {
	if here, data := isHere(ctx, conn); data != "" {
		s.data.Store(data)
		s.here.Store(here)
	}
}

// mounted is a directory of the server's with the mount point of its file system, where the server is on this machine.
func (s *Store) mounted(dir string) string {
	if s.here.Load() {
		if mount, ok := diskspace.MountPoint(dir); ok {
			return fmt.Sprintf("%s (mounted at %s)", dir, mount)
		}
	}
	return dir
}

// fullDrive says, of a server on this machine that closed its connections, that it has no room left; empty where it
// has, or nobody knows. A server that cannot write its log goes down.
func (s *Store) fullDrive() string {
	data, ok := s.data.Load().(string)
	if !ok || !s.here.Load() {
		return ""
	}
	for _, dir := range []string{filepath.Join(data, "pg_wal"), data} {
		if free, ok := diskspace.Free(dir); ok && free < littleRoom {
			return fmt.Sprintf("only %d MB are free on the server's file system that holds %s: make room there, "+
				"and start the server if it went down", free/1e6, s.mounted(dir))
		}
	}
	return ""
}
