package devicetest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Slow is a drive that can be held to a number of reads and writes a second: the kernel counts how long they take as it
// does for any drive. Its image lies on another drive, and a control group holds that one back.
type Slow struct {
	Drive
	below Drive
}

// MountSlow makes a slow drive as Mount makes another. It is fast until Hold.
func MountSlow(t *testing.T, fileSystem, on string, bytes int64) *Slow {
	t.Helper()
	below := Mount(t, on, bytes+bytes/8+16<<20) // with what its own file system takes
	s := &Slow{below: below}
	if below.hold(0, 0) != nil {
		t.Skip("no control group (version 1) holds drives back here")
	}
	under, image := filepath.Join(filepath.Dir(below.Dir), "slow"), filepath.Join(below.Dir, "image")
	s.Drive = mount(t, fileSystem, under, image, bytes, "--direct-io=on")
	t.Cleanup(func() { s.Hold(t, 0, 0) }) // before it is unmounted
	return s
}

// Hold has the drive do at most these reads, and these writes and flushes, a second from now on; 0 is any number. It
// lets them through in bursts, at most every tenth of a second.
func (s *Slow) Hold(t *testing.T, reads, writes int) {
	t.Helper()
	require.NoError(t, s.below.hold(reads, writes))
}

// HoldAbove has at most these reads and writes a second reach the drive, whose counters do not see that they wait.
func (s *Slow) HoldAbove(t *testing.T, reads, writes int) {
	t.Helper()
	require.NoError(t, s.hold(reads, writes))
	t.Cleanup(func() { _ = s.hold(0, 0) })
}

func (d Drive) hold(reads, writes int) error {
	for kind, most := range map[string]int{"read": reads, "write": writes} {
		limit := "/sys/fs/cgroup/blkio/blkio.throttle." + kind + "_iops_device"
		if err := os.WriteFile(limit, fmt.Appendf(nil, "%s %d", d.Number, most), 0); err != nil {
			return err
		}
	}
	return nil
}
