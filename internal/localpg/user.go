//go:build unix

package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is the user that the server runs as: this process's own or, as PostgreSQL refuses to run as
// root, another one.
type owner struct {
	name       string
	credential *syscall.Credential // nil: this process's own user
}

// findOwner decides on the user: for root postgres, else nobody.
func findOwner() (owner, error) {
	if os.Geteuid() != 0 {
		return owner{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32) // numbers, on Unix
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		return owner{name, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return owner{}, errors.New("find a user for the server: PostgreSQL does not run as root, " +
		"and there is neither a user postgres nor nobody")
}

// apply makes cmd run as the owner, in dir, with a plain environment: no PG variable and no locale
// of the caller's.
func (o owner) apply(cmd *exec.Cmd, dir string) {
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: o.credential}
}

// own gives a file to the owner.
func (o owner) own(path string) error {
	if o.credential == nil {
		return nil
	}
	if err := os.Chown(path, int(o.credential.Uid), int(o.credential.Gid)); err != nil {
		return fmt.Errorf("give %s to user %s: %w", path, o.name, err)
	}
	return nil
}

// makeDir makes the data directory, or takes it where it is there and empty.
func (o owner) makeDir(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err = os.MkdirAll(filepath.Dir(dir), 0o755); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	case err == nil && len(entries) > 0:
		return fmt.Errorf(
			"make PostgreSQL cluster: data directory %s is not empty; name another one or empty it",
			dir,
		)
	}
	if err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	if err := o.own(dir); err != nil {
		return err
	}
	return o.reaches(dir)
}

// reaches tells whether the owner may enter every directory on the way to dir. As the kernel does,
// it asks for the right of the owner of a directory, of its group, or of others, the first that
// applies: an owner without the right may not enter though all others may.
func (o owner) reaches(dir string) error {
	if o.credential == nil {
		return nil
	}
	for ; ; dir = filepath.Dir(dir) {
		var st syscall.Stat_t
		if err := syscall.Stat(dir, &st); err != nil {
			return fmt.Errorf("look at directory %s: %w", dir, err)
		}
		enter := uint32(0o001)
		switch {
		case st.Uid == o.credential.Uid:
			enter = 0o100
		case st.Gid == o.credential.Gid:
			enter = 0o010
		}
		if uint32(st.Mode)&enter == 0 {
			return fmt.Errorf(
				"directory %s is closed to user %s, who runs the server: name a place outside of it",
				dir,
				o.name,
			)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
