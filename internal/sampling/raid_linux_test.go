package sampling

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ds2/internal/topology"
)

// TestRealRAID makes RAID 5 of drives that DS2_TEST_RAID names, whose data is lost, as
// scripts/cgroup2.sh does in a virtual machine: a page written is one write to the volume, and
// reads and writes of several drives.
func TestRealRAID(t *testing.T) {
	drives := strings.Fields(os.Getenv("DS2_TEST_RAID"))
	if len(drives) == 0 {
		t.Skip("no drives are given to be overwritten: DS2_TEST_RAID")
	}
	create := []string{
		"--create", "/dev/md0", "--run", "--level=5", "--assume-clean", "--metadata=1.0",
		"--raid-devices=3",
	}
	for _, drive := range drives {
		create = append(create, "/dev/"+drive)
	}
	out, err := exec.CommandContext(t.Context(), "mdadm", create...).CombinedOutput()
	require.NoError(t, err, "%s", out)

	machine := topology.Root.Machine(drives)
	machine.Volumes = topology.Root.VolumesOver([]string{"md0"}, machine.Drives)
	require.Len(t, machine.Volumes, 1)
	assert.ElementsMatch(t, drives, machine.Volumes[0].Under)
	assert.Empty(t, machine.Volumes[0].WritesUnknown)
	volumes, err := VolumeCounters(topology.Root, machine.Volumes)
	require.NoError(t, err)
	below, err := MachineCounters(topology.Root, drives, nil)
	require.NoError(t, err)
	sum := func(src Source, names ...string) (sum float64) {
		for i, v := range read(t, src) {
			for _, name := range names {
				if src.Figures[i].Name == name {
					sum += v
				}
			}
		}
		return sum
	}
	asked := sum(volumes, "volume_writes_total")
	done := sum(below, "disk_reads_total", "disk_writes_total")

	const pages = 1000
	fd, err := unix.Open("/dev/md0", unix.O_RDWR|unix.O_DIRECT, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	memory, err := unix.Mmap(
		-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE,
	)
	require.NoError(t, err)
	require.Zero(t, uintptr(unsafe.Pointer(&memory[0]))%4096)
	for i := range int64(pages) {
		n, err := unix.Pwrite(fd, memory, i*7919%4000*4096)
		require.NoError(t, err)
		require.Equal(t, len(memory), n)
	}
	assert.InDelta(t, pages, sum(volumes, "volume_writes_total")-asked, 20)
	// A page of data and one of parity, and what is read for these and not in the stripes' cache.
	assert.GreaterOrEqual(t, sum(below, "disk_reads_total", "disk_writes_total")-done, 2.*pages)
}
