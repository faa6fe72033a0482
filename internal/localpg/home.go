//go:build unix

package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A home is a server's temporary directory. Its owner holds a lock on a file in it for as long as
// it lives, so that who comes later can tell which ones are orphaned: those of processes that were
// killed.
const (
	homePrefix = "ds2-postgres-"
	homeLock   = "owner.lock"
)

// makeHome makes a home that the owner may enter. The lock ends when its file is closed.
func (o owner) makeHome() (dir string, lock *os.File, err error) {
	parent := os.TempDir()
	if o.reaches(parent) != nil {
		parent = "/tmp" // root's TMPDIR may lie in root's own, closed home
	}
	o.removeOrphans(parent)
	home, err := os.MkdirTemp(parent, homePrefix)
	if err != nil {
		return "", nil, fmt.Errorf("make directory for the server: %w", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(home)
		}
	}()
	if err := errors.Join(o.own(home), o.reaches(home)); err != nil {
		return "", nil, err
	}
	// It gets its name when it is locked: who found it between its making and its lock would take
	// its home for an orphan's.
	unnamed := filepath.Join(home, homeLock+".new")
	if lock, err = os.OpenFile(unnamed, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return "", nil, fmt.Errorf("make lock file: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return "", nil, errors.Join(fmt.Errorf("lock %s: %w", lock.Name(), err), lock.Close())
	}
	if err := os.Rename(lock.Name(), filepath.Join(home, homeLock)); err != nil {
		return "", nil, errors.Join(fmt.Errorf("name lock file: %w", err), lock.Close())
	}
	return home, lock, nil
}

// removeOrphans removes the homes in a directory whose owner and whose server are gone. One that
// cannot be looked at is left alone.
func (o owner) removeOrphans(parent string) {
	homes, _ := fs.Glob(os.DirFS(parent), homePrefix+"*")
	for _, home := range homes {
		home = filepath.Join(parent, home)
		if o.isOrphan(home) {
			os.RemoveAll(home)
		}
	}
}

// isOrphan says whether a home was left by a process that is gone. Whoever can write into the
// directory of temporary files may have put something of that name there, so only a directory of a
// user that ds2 runs servers as is looked into, and no link is followed.
func (o owner) isOrphan(home string) bool {
	var st syscall.Stat_t
	if err := syscall.Lstat(home, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return false
	}
	if own := o.credential; int(st.Uid) != os.Geteuid() && (own == nil || st.Uid != own.Uid) {
		return false
	}
	// Without O_NONBLOCK a named pipe in place of the lock would hold this up for ever.
	const flags = os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	lock, err := os.OpenFile(filepath.Join(home, homeLock), flags, 0)
	if err != nil {
		return false // it is being made, or another user's
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	text, _ := os.ReadFile(filepath.Join(home, "data", "postmaster.pid"))
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	return err != nil || !alive(pid) // a server may take a while to end
}
