package sampling

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"ds2/internal/topology"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRealGroup puts a process that never rests into a control group of this machine, below one
// with a tenth of a CPU and 64 MiB, and reads how the kernel holds it back.
func TestRealGroup(t *testing.T) {
	const top = "/sys/fs/cgroup"
	name := fmt.Sprintf("ds2-test-group-%d/below", os.Getpid())
	busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	require.NoError(t, busy.Start())
	process := strconv.Itoa(busy.Process.Pid)
	limits := [][3]string{
		{top, "cpu.max", "10000 100000"},
		{top, "memory.max", "67108864"},
	}
	if topology.ReadText(top+"/cgroup.controllers") == "" { // version 1
		limits = [][3]string{
			{top + "/cpu", "cpu.cfs_quota_us", "10000"},
			{top + "/memory", "memory.limit_in_bytes", "67108864"},
		}
	}
	os.WriteFile(top+"/cgroup.subtree_control", []byte("+cpu +memory"), 0) // where it may
	var err error
	for _, limit := range limits {
		below := filepath.Join(limit[0], name)
		group := filepath.Dir(below)
		err = cmp.Or(err, os.MkdirAll(below, 0o755),
			os.WriteFile(filepath.Join(group, limit[1]), []byte(limit[2]), 0),
			os.WriteFile(below+"/cgroup.procs", []byte(process), 0))
		t.Cleanup(func() {
			_ = os.Remove(below)
			_ = os.Remove(group)
		})
	}
	t.Cleanup(func() { busy.Wait() }) // before the groups go
	if err != nil {
		t.Skipf("no control group can be made and limited: %v", err)
	}
	g, err := topology.Root.Limits(busy.Process.Pid)
	require.NoError(t, err)
	assert.Equal(
		t,
		(topology.Container{MemoryBytes: 67108864, Processors: 0.1}),
		g.Container,
		"limits",
	)
	await(t, "the process is held back", func() bool {
		v, err := g.Throttling(t.Context()) // times, periods, seconds
		require.NoError(t, err)
		require.LessOrEqual(t, v[0], v[1])
		return v[0] >= 3 && v[2] >= 0.1
	})
	v, err := g.Available(t.Context())
	assert.True(t, err == nil && v[0] >= 32<<20 && v[0] <= 67108864, "available %v, %v", v, err)
	await(t, "the process takes time", func() bool {
		taken, err := readTaken(topology.Root, busy.Process.Pid)
		require.NoError(t, err)
		return taken[0] >= 0.05
	})
}

// await asks until something is so, and gives up after minutes.
func await(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !isSo(); time.Sleep(10 * time.Millisecond) {
		require.False(t, time.Now().After(deadline), "never: %s", what)
	}
}
