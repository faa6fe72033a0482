package sampling

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ds2/internal/machinetest"
	"ds2/internal/topology"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDevicesOnEachOther: of two devices, one of which lies on the other, each request would count
// twice.
func TestDevicesOnEachOther(t *testing.T) {
	fs, _ := machine(t)
	var stats strings.Builder
	for _, name := range []string{"sda", "sda1", "sda2", "nvme0n1", "nvme1n1", "md0", "dm-0", "loop0"} {
		fmt.Fprintf(&stats, "   8 0 %s 1 0 8 5 2 0 16 4 0 10 50 0 0 0 0 0 0\n", name)
	}
	machinetest.Write(t, fs.Proc, "diskstats", stats.String())
	for _, devices := range []string{"sda nvme0n1 loop0", "dm-0 loop0"} {
		_, err := MachineCounters(fs, strings.Fields(devices), nil)
		assert.NoError(t, err, devices)
	}
	for devices, want := range map[string]string{
		"dm-0 sda": "dm-0 lies on sda", "nvme1n1 loop0 dm-0": "dm-0 lies on nvme1n1", "md0 dm-0": "dm-0 lies on md0",
		"sda2 dm-0": "dm-0 lies on sda2", "sda1 sda": "sda1 lies on sda",
		"loop0 sda1": "sda1 is a partition, whose flushes the kernel counts with its drive's: name sda",
	} {
		_, err := MachineCounters(fs, strings.Fields(devices), nil)
		assert.ErrorContains(t, err, want, devices)
	}
}

// TestMultipath counts NVMe drives that several controllers reach, by /sys and /proc as kernels
// before and since 6.4 show them: the requests of a drive count once, and uncounted ones are
// unknown.
func TestMultipath(t *testing.T) {
	const (
		head     = "259 0 nvme0n1"
		one, two = "259 1 nvme0c0n1", "259 2 nvme0c1n1"
		none     = " 0 0 0 0 0 0 0 0 0 0 0"
	)
	counts := func(device string, reads int) string {
		return fmt.Sprintf("%s %d 0 %d 100 0 0 0 0 0 50 100", device, reads, 16*reads)
	}
	unknown := math.NaN()
	for name, c := range map[string]struct {
		iostats  string // of the head
		was, now []string
		reads    float64
		busy     float64
	}{
		"before 6.4, the paths count": {
			"0",
			[]string{head + none, counts(one, 100), counts(two, 10)},
			[]string{head + none, counts(one, 300), counts(two, 20)},
			210, unknown,
		},
		"one path, whose busy time is the drive's": {
			"0",
			[]string{head + none, counts(one, 100)},
			[]string{head + none, counts(one, 300)},
			200, 0,
		},
		"since 6.4, the head counts what the paths count": {
			"1",
			[]string{counts(head, 110), counts(one, 100), counts(two, 10)},
			[]string{counts(head, 320), counts(one, 300), counts(two, 20)},
			210, 0,
		},
		"before 6.4, with the head's iostats on": {
			"1",
			[]string{head + none, counts(one, 100)},
			[]string{head + none, counts(one, 300)},
			200, 0,
		},
		"since 6.4, with the head's iostats off": {
			"0",
			[]string{counts(head, 7), counts(one, 100)},
			[]string{counts(head, 7), counts(one, 300)},
			200, 0,
		},
		"not counted": {"0", []string{head + none}, []string{head + none}, unknown, unknown},
		"a path is lost": {
			"0",
			[]string{head + none, counts(one, 100), counts(two, 10)},
			[]string{head + none, counts(one, 105)},
			unknown, unknown,
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs, root := machine(t, "1 0 259:0 / / rw - xfs /dev/nvme0n1 rw")
			const subsystem = "devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1"
			machinetest.Device(t, fs.Sys, subsystem, "259:0")
			machinetest.Device(t, fs.Sys, "devices/pci/nvme/nvme0/nvme0c0n1", "259:1")
			machinetest.Write(t, fs.Sys, subsystem+"/queue/iostats", c.iostats+"\n")
			found, err := fs.Find(root)
			require.NoError(t, err)
			require.Equal(t, []string{"nvme0n1"}, found.Devices)
			all, err := fs.Drives()
			require.NoError(t, err)
			assert.Equal(t, []string{"nvme0n1", "nvme1n1", "sda"}, all)
			machinetest.Write(t, fs.Proc, "diskstats", strings.Join(c.was, "\n")+"\n")
			disks, err := MachineCounters(fs, []string{"nvme0n1"}, nil)
			require.NoError(t, err)
			was := read(t, disks)
			uncounted := slices.Contains(disks.Uncounted(was), "nvme0n1")
			assert.Equal(t, name == "not counted", uncounted)
			machinetest.Write(t, fs.Proc, "diskstats", strings.Join(c.now, "\n")+"\n")
			now := read(t, disks)
			for name, want := range map[string]float64{
				"reads_per_second": c.reads, "read_bytes_per_second": 16 * 512 * c.reads, "busy_ratio": c.busy,
			} {
				assert.InDelta(
					t,
					want,
					column(t, disks, "disk.nvme0n1."+name, 1, was, now),
					0,
					name,
				)
			}
		})
	}
}

// machine makes a machine with drives of all kinds, and gives the directory that plays /.
func machine(t *testing.T, mounts ...string) (topology.FS, string) {
	proc, sys, root := machinetest.Machine(t, mounts...)
	return topology.FS{Proc: proc, Sys: sys}, root
}
