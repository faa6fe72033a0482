package monitor

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// machine makes a /sys of one machine: sda with two partitions; md0 over nvme0n1p1 and nvme1n1p1;
// the volume dm-0 of LVM over md0 and sda2; a loop device and a ramdisk. Mounts are lines of
// mountinfo in which @ stands for the directory that plays /.
func machine(t *testing.T, mounts ...string) (FS, string) {
	t.Helper()
	fs := kernelFiles(t)
	sys := fs.Sys
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for dir, number := range map[string]string{
		"devices/pci/sda": "8:0", "devices/pci/sda/sda1": "8:1", "devices/pci/sda/sda2": "8:2",
		"devices/pci/nvme0n1": "259:0", "devices/pci/nvme0n1/nvme0n1p1": "259:1",
		"devices/pci/nvme1n1": "259:2", "devices/pci/nvme1n1/nvme1n1p1": "259:3",
		"devices/virtual/md0": "9:0", "devices/virtual/dm-0": "253:0",
		"devices/virtual/loop0": "7:0", "devices/virtual/zram0": "252:0",
	} {
		device(t, sys, dir, number)
		if strings.Count(dir, "/") == 3 {
			write(t, sys, dir+"/partition", "1\n")
			require.NoError(t, os.Remove(filepath.Join(sys, "block", filepath.Base(dir))))
		}
	}
	for device, slaves := range map[string][]string{
		"md0": {"nvme0n1/nvme0n1p1", "nvme1n1/nvme1n1p1"}, "dm-0": {"../virtual/md0", "sda/sda2"},
	} {
		for _, s := range slaves {
			from := filepath.Join(sys, "devices/virtual", device, "slaves", filepath.Base(s))
			link(t, filepath.Join(sys, "devices/pci", s), from)
		}
	}
	text := strings.ReplaceAll(strings.Join(mounts, "\n")+"\n", "@", root)
	write(t, fs.Proc, "self/mountinfo", text)
	write(t, fs.Proc, strconv.Itoa(os.Getpid())+"/mountinfo", text)
	return fs, root
}

// device has a /sys show one, in place of another of its name or number.
func device(t *testing.T, sys, dir, number string) {
	t.Helper()
	write(t, sys, dir+"/dev", number+"\n")
	name := filepath.Base(dir)
	for _, from := range []string{"block/" + name, "dev/block/" + number, "class/block/" + name} {
		os.Remove(filepath.Join(sys, from))
		link(t, filepath.Join(sys, dir), filepath.Join(sys, from))
	}
}

func link(t *testing.T, to, from string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(from), 0o755))
	require.NoError(t, os.Symlink(to, from))
}

func TestFind(t *testing.T) {
	const root = "1 0 8:1 / / rw - ext4 /dev/sda1 rw"
	for _, c := range []struct {
		name   string
		mounts []string
		want   string
		err    string
	}{
		{"a partition", []string{root}, "sda", ""},
		{"the nearest mount counts", []string{root, "2 1 259:1 / @/srv rw - xfs /dev/nvme0n1p1 rw"}, "nvme0n1", ""},
		{
			"a mount beside it whose name begins alike does not",
			[]string{root, "2 1 259:1 / @/srv/dat rw - xfs /dev/nvme0n1p1 rw"},
			"sda", "",
		},
		{
			"of two mounts on one point the later hides the earlier",
			[]string{"1 0 8:1 / @/srv rw - ext4 /dev/sda1 rw", "2 1 259:1 / @/srv rw - xfs /dev/nvme0n1p1 rw"},
			"nvme0n1", "",
		},
		{
			"LVM over MD and a partition",
			[]string{"1 0 253:0 / / rw - xfs /dev/mapper/vg-data rw"},
			"nvme0n1 nvme1n1 sda", "",
		},
		{"btrfs has a separate number", []string{"1 0 0:40 / / rw - btrfs @/dev/sda2 rw"}, "sda", ""},
		{"btrfs over two devices", []string{"1 0 0:40 / / rw - btrfs @/dev/sda1 rw"}, "nvme0n1 sda", ""},
		{
			"a container's overlay on a directory that can be seen",
			[]string{
				"1 0 0:50 / @/srv rw - overlay overlay rw,lowerdir=/a,upperdir=@/upper",
				"2 1 8:1 / @/upper rw - ext4 /dev/sda1 rw",
			},
			"sda", "",
		},
		{
			"a container's overlay on a directory that cannot",
			[]string{"1 0 0:50 / / rw - overlay overlay rw,lowerdir=/a,upperdir=/nowhere/upper"},
			"", "cannot be seen from here",
		},
		{"memory", []string{"1 0 0:25 / / rw - tmpfs tmpfs rw"}, "", "no block device stands behind its tmpfs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs, root := machine(t, c.mounts...)
			for _, dir := range []string{"srv/data", "upper"} {
				require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
			}
			for _, device := range []string{"sda1", "sda2"} {
				write(t, root, "dev/"+device, "")
			}
			for _, device := range []string{"sda/sda1", "nvme0n1/nvme0n1p1"} {
				lists := filepath.Join(fs.Sys, "fs/btrfs/some-id/devices", filepath.Base(device))
				link(t, filepath.Join(fs.Sys, "devices/pci", device), lists)
			}
			got, err := fs.Find(filepath.Join(root, "srv/data"))
			if c.err != "" {
				require.ErrorContains(t, err, c.err, "Find = %v", got)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, strings.Fields(c.want), got.Devices)
		})
	}
}

// TestDevicesOnEachOther: of two devices, one of which lies on the other, each request would count
// twice.
func TestDevicesOnEachOther(t *testing.T) {
	fs, _ := machine(t)
	var stats strings.Builder
	for _, name := range []string{"sda", "sda1", "sda2", "nvme0n1", "nvme1n1", "md0", "dm-0", "loop0"} {
		fmt.Fprintf(&stats, "   8 0 %s 1 0 8 5 2 0 16 4 0 10 50 0 0 0 0 0 0\n", name)
	}
	write(t, fs.Proc, "diskstats", stats.String())
	for _, devices := range []string{"sda nvme0n1 loop0", "dm-0 loop0"} {
		_, err := fs.Counters(strings.Fields(devices), nil)
		assert.NoError(t, err, devices)
	}
	for devices, want := range map[string]string{
		"dm-0 sda": "dm-0 lies on sda", "nvme1n1 loop0 dm-0": "dm-0 lies on nvme1n1", "md0 dm-0": "dm-0 lies on md0",
		"sda2 dm-0": "dm-0 lies on sda2", "sda1 sda": "sda1 lies on sda",
		"loop0 sda1": "sda1 is a partition, whose flushes the kernel counts with its drive's: name sda",
	} {
		_, err := fs.Counters(strings.Fields(devices), nil)
		assert.ErrorContains(t, err, want, devices)
	}
}

func TestMachineDrive(t *testing.T) {
	fs, root := machine(t, "1 0 8:1 / / rw,noatime - ext4 /dev/sda1 rw,discard,data=ordered")
	writeFiles(
		t,
		fs.Sys,
		"devices/pci/sda size=2000 queue/rotational=1 queue/scheduler=none+[mq-deadline]+kyber "+
			"device/model=ST1000++++++",
	)
	want := []Drive{
		{
			Name:       "sda",
			Model:      "ST1000",
			Bytes:      2000 * 512,
			Rotational: true,
			Scheduler:  "mq-deadline",
		},
	}
	assert.Equal(t, want, fs.Machine([]string{"sda"}).Drives)
	found, err := fs.Find(root)
	require.NoError(t, err)
	assert.Equal(t, []string{"data=ordered", "discard", "noatime", "rw"}, found.Options)
}

// write makes a file below dir, and the directories to it.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// writeFiles makes small files: on each line a directory and some NAME=TEXT, with + for a blank and
// a comma for a line end.
func writeFiles(t *testing.T, root, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		var dir string
		for i, field := range strings.Fields(line) {
			if i == 0 {
				dir = field
				continue
			}
			name, text, _ := strings.Cut(field, "=")
			write(
				t,
				root,
				filepath.Join(dir, name),
				strings.NewReplacer("+", " ", ",", "\n").Replace(text)+"\n",
			)
		}
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
			device(t, fs.Sys, subsystem, "259:0")
			device(t, fs.Sys, "devices/pci/nvme/nvme0/nvme0c0n1", "259:1")
			write(t, fs.Sys, subsystem+"/queue/iostats", c.iostats+"\n")
			found, err := fs.Find(root)
			require.NoError(t, err)
			require.Equal(t, []string{"nvme0n1"}, found.Devices)
			all, err := fs.Drives()
			require.NoError(t, err)
			assert.Equal(t, []string{"nvme0n1", "nvme1n1", "sda"}, all)
			write(t, fs.Proc, "diskstats", strings.Join(c.was, "\n")+"\n")
			disks, err := fs.Counters([]string{"nvme0n1"}, nil)
			require.NoError(t, err)
			was := read(t, disks)
			var w Observer
			require.NoError(t, w.sample(t.Context(), nil, disks))
			noted := strings.Contains(strings.Join(w.Notes, ""), "drive nvme0n1")
			assert.Equal(t, name == "not counted", noted, "%q", w.Notes)
			write(t, fs.Proc, "diskstats", strings.Join(c.now, "\n")+"\n")
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
