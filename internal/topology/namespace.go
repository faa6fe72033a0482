package topology

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	securejoin "github.com/cyphar/filepath-securejoin"
)

// A server in a container, or a service with mounts of its own, has other file systems under the
// same paths than ds2: what it names is looked up in the mounts of its own process.

// ErrHidden says that the mounts of a process may not be read.
var ErrHidden = errors.New("run ds2 as root or as the server's user, or name the drives " +
	"by --devices: the server's file systems cannot be read")

// Reach is the path by which this process reaches what another one, of this machine, has under a
// path; 0 is this process itself.
func (fs FS) Reach(process int, path string) (string, error) {
	if process == 0 || fs.sharesMounts(process) {
		return filepath.EvalSymlinks(path)
	}
	// The directory that plays / for it, in its mounts. Links must not lead out of it.
	root := filepath.Join(fs.Proc, strconv.Itoa(process), "root")
	if _, err := os.Readlink(root); err != nil {
		return "", fmt.Errorf("%w (%w)", ErrHidden, err)
	}
	reached, err := securejoin.SecureJoin(root, path)
	if err != nil {
		return "", err
	}
	_, err = os.Stat(reached)
	return reached, err
}

// Inside is the path that a process has for what Reach gave.
func (fs FS) Inside(process int, reached string) string {
	root := filepath.Join(fs.Proc, strconv.Itoa(process), "root")
	return filepath.Join("/", strings.TrimPrefix(reached, root))
}

// sharesMounts says whether paths lead a process of this machine where they lead this one.
func (fs FS) sharesMounts(process int) bool {
	of := func(pid, link string) string {
		to, err := os.Readlink(filepath.Join(fs.Proc, pid, link))
		if err != nil {
			return pid
		}
		return to
	}
	other := strconv.Itoa(process)
	return of("self", "ns/mnt") == of(other, "ns/mnt") && of("self", "root") == of(other, "root")
}

// Isolated says whether a process has a process namespace of its own, as in a container, so that
// its mounts are others than those of this process too.
func (fs FS) Isolated(process int) bool {
	_, p, err := fs.Process(process)
	if err != nil {
		return true
	}
	status, err := p.NewStatus()
	return err != nil || len(status.NSpids) != 1
}
