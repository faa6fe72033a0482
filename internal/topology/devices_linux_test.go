package topology

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ds2/internal/machinetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	const root = "1 0 8:1 / / rw - ext4 /dev/sda1 rw"
	for _, c := range []struct {
		name   string
		mounts []string
		want   string
		err    string
	}{
		{"a partition", []string{root}, "sda", ""},
		{
			"the nearest mount counts",
			[]string{root, "2 1 259:1 / @/srv rw - xfs /dev/nvme0n1p1 rw"},
			"nvme0n1", "",
		},
		{
			"a mount beside it whose name begins alike does not",
			[]string{root, "2 1 259:1 / @/srv/dat rw - xfs /dev/nvme0n1p1 rw"},
			"sda", "",
		},
		{
			"of two mounts on one point the later hides the earlier",
			[]string{
				"1 0 8:1 / @/srv rw - ext4 /dev/sda1 rw",
				"2 1 259:1 / @/srv rw - xfs /dev/nvme0n1p1 rw",
			},
			"nvme0n1", "",
		},
		{
			"LVM over MD and a partition",
			[]string{"1 0 253:0 / / rw - xfs /dev/mapper/vg-data rw"},
			"nvme0n1 nvme1n1 sda", "",
		},
		{
			"btrfs has a separate number",
			[]string{"1 0 0:40 / / rw - btrfs @/dev/sda2 rw"},
			"sda",
			"",
		},
		{
			"btrfs over two devices",
			[]string{"1 0 0:40 / / rw - btrfs @/dev/sda1 rw"},
			"nvme0n1 sda", "",
		},
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
		{"a pool of ZFS", []string{"1 0 0:41 / / rw - zfs tank/pg rw"}, "nvme0n1 sda", ""},
		{
			"memory",
			[]string{"1 0 0:25 / / rw - tmpfs tmpfs rw"},
			"",
			"no block device stands behind its tmpfs",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs, root := machine(t, c.mounts...)
			// In place of zpool: a mirror of two partitions.
			machinetest.Write(t, root, "zpool", "#!/bin/sh\n"+
				"[ \"$*\" = 'list -v -H -P -L tank' ] || exit 1\n"+
				"printf 'tank\\t9G\\n\\tmirror-0\\t9G\\n\\t/dev/sda2\\t9G\\n\\t/dev/nvme0n1p1\\t9G\\n'\n")
			require.NoError(t, os.Chmod(filepath.Join(root, "zpool"), 0o755))
			t.Setenv("PATH", root+":"+os.Getenv("PATH"))
			for _, dir := range []string{"srv/data", "upper"} {
				require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
			}
			for _, device := range []string{"sda1", "sda2"} {
				machinetest.Write(t, root, "dev/"+device, "")
			}
			for _, device := range []string{"sda/sda1", "nvme0n1/nvme0n1p1"} {
				lists := filepath.Join(fs.Sys, "fs/btrfs/some-id/devices", filepath.Base(device))
				machinetest.Link(t, filepath.Join(fs.Sys, "devices/pci", device), lists)
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

func TestMachineDrive(t *testing.T) {
	fs, root := machine(t, "1 0 8:1 / / rw,noatime - ext4 /dev/sda1 rw,discard,data=ordered")
	machinetest.WriteFiles(
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

// TestVolumes: what a RAID is asked is told from what its drives do.
func TestVolumes(t *testing.T) {
	fs, root := machine(t, "1 0 253:0 / / rw - xfs /dev/mapper/vg-data rw")
	found, err := fs.Find(root)
	require.NoError(t, err)
	assert.Equal(t, []string{"md0"}, found.Volumes, "and sda2, which has no copies")
	drives := []Drive{{Name: "nvme0n1"}, {Name: "nvme1n1"}, {Name: "sda"}}
	for kernel, why := range map[string]string{
		"6.1.0": "", "5.10.0-30": "it counts empty flushes among its writes",
	} {
		machinetest.Write(t, fs.Proc, "sys/kernel/osrelease", kernel+"\n")
		volumes := fs.VolumesOver([]string{"md0", "md0"}, drives)
		require.Len(t, volumes, 1)
		assert.Equal(t, []string{"nvme0n1", "nvme1n1"}, volumes[0].Under)
		assert.Equal(t, why, volumes[0].WritesUnknown)
	}
	assert.Empty(
		t, fs.VolumesOver([]string{"md0"}, drives[1:]), "one of its drives is not observed",
	)
}

func TestDrivesAmong(t *testing.T) {
	all := "dm-0 drbd0 loop0 md127 mmcblk0 mmcblk0p1 nvme0c0n1 nvme0n1 nvme0n10 nvme0n1p1 sda sda1 sdaa sr0"
	assert.Equal(
		t,
		strings.Fields("mmcblk0 nvme0n1 nvme0n10 sda sdaa"),
		DrivesAmong(strings.Fields(all)),
	)
	assert.Equal(
		t,
		[]string{"0", "1", "10"},
		DrivesAmong([]string{"0", "1", "10"}),
		"disks of Windows",
	)
}

// machine makes a machine with drives of all kinds, and gives the directory that plays /.
func machine(t *testing.T, mounts ...string) (FS, string) {
	proc, sys, root := machinetest.Machine(t, mounts...)
	return FS{proc, sys}, root
}
