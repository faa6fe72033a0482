package sampling

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"ds2/internal/machinetest"
	"ds2/internal/topology"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDiskColumns computes the columns of two reads by hand.
func TestDiskColumns(t *testing.T) {
	fs := kernelFiles(t)
	machinetest.WriteFiles(
		t,
		fs.Sys,
		"block/sda/queue write_cache=write+back fua=0\nblock/sda/mq/0 cpu_list=0",
	)
	// major minor name, reads merged sectors ms, writes merged sectors ms, in flight, busy ms,
	// weighted ms, discards, flushes ms
	machinetest.Write(
		t,
		fs.Proc,
		"diskstats",
		"   8 0 sda 100 0 800 50 200 0 1600 400 0 1000 5000 0 0 0 0 50 60\n",
	)
	disks, err := MachineCounters(fs, []string{"sda"}, nil)
	require.NoError(t, err)
	was := read(t, disks)
	machinetest.Write(
		t,
		fs.Proc,
		"diskstats",
		"   8 0 sda 300 0 4000 150 260 0 3600 950 2 2000 9000 0 0 0 0 60 110\n",
	)
	now := read(t, disks)
	for name, want := range map[string]float64{
		"reads_per_second":         100,        // 200 in 2 s
		"writes_per_second":        25,         // 60, of which 10 are empty flushes
		"read_bytes_per_second":    1600 * 512, // 3200 sectors
		"written_bytes_per_second": 1000 * 512, // 2000 sectors
		"read_seconds":             0.0005,     // 100 ms over 200 reads
		"write_seconds":            0.01,       // 550 ms less 50 over 50 writes
		"flushes_per_second":       5,
		"flush_seconds":            0.005,
		"busy_ratio":               0.5, // 1 s of 2 s
		"queue":                    2,   // 4 s of waiting in 2 s
	} {
		assert.InDelta(t, want, column(t, disks, "disk.sda."+name, 2, was, now), 1e-12, name)
	}
}

// TestEmptyFlushes: 100 writes of 2 ms, and 100 of a process's 150 flushes of 1 ms end as empty
// writes; the others came with writes of the file system's journal.
func TestEmptyFlushes(t *testing.T) {
	const (
		back, through = "block/sda/queue write_cache=write+back", "block/sda/queue write_cache=write+through"
		requests      = "\nblock/sda/mq/0 cpu_list=0"
		fua           = " fua=1" + requests
		lvm           = requests + "\nclass/block/sda/holders/dm-0 dev=1"
		ext4          = "1 0 8:0 / /data rw - ext4 /dev/sda rw\n"
	)
	jbd2 := func(n int) string { return fmt.Sprintf("%d+transactions+(1+requested)", n) }
	xfs := func(n int) string { return fmt.Sprintf("extent_alloc+1+2,log+%d+3+4", n) }
	journals := map[string]topology.Flushing{"sda": {Unknown: "which flushes are the journal's"}}
	for name, c := range map[string]struct {
		sys, mounts string
		before      bool                         // Linux 5.5
		journal     func(int) string             // its file, after n writes
		file        string                       //
		others      map[string]topology.Flushing // where journals are not to be seen
		writes      float64                      // NaN: unknown
		why         string
	}{
		"write through":                      {sys: through, writes: 200},
		"write through, before 5.5":          {sys: through, before: true, writes: 200},
		"write through, of others":           {sys: through, writes: 200, others: journals},
		"before 5.5":                         {sys: back + requests, before: true, why: "counts no flushes"},
		"no request queue":                   {sys: back, why: "no request queue"},
		"no journal":                         {sys: back + requests, writes: 50},
		"ext4 with FUA":                      {sys: back + fua, mounts: ext4, journal: jbd2, writes: 100},
		"ext4 without FUA":                   {sys: back + requests, mounts: ext4, journal: jbd2, writes: 150},
		"a journal on a separate device":     {sys: back + requests, file: "sda", journal: jbd2, writes: 150},
		"XFS":                                {sys: back + fua, file: "xfs", journal: xfs, writes: 100},
		"LVM above it":                       {sys: back + lvm, others: journals, why: "the journal's"},
		"LVM above it, no part of the log's": {sys: back + lvm, writes: 50},
		"Btrfs": {
			sys: back + requests, mounts: "1 0 0:30 / /data rw - btrfs /dev/sda rw\n", others: journals,
			why: "the journal's",
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := kernelFiles(t)
			machinetest.WriteFiles(t, fs.Sys, c.sys)
			machinetest.Write(t, fs.Proc, fmt.Sprint(os.Getpid(), "/mountinfo"), c.mounts)
			show := func(writes, flushes, journal int) {
				stats := fmt.Sprintf(
					"8 0 sda 0 0 0 0 %d 0 1600 %d 0 0 0 0 0 0 0",
					writes,
					writes*2-flushes,
				)
				if !c.before {
					stats += fmt.Sprintf(" %d %d", flushes, flushes)
				}
				machinetest.Write(t, fs.Proc, "diskstats", stats+"\n")
				switch {
				case c.file == "xfs":
					machinetest.WriteFiles(t, fs.Sys, "fs/xfs/sda/stats stats="+c.journal(journal))
				case c.journal != nil:
					machinetest.WriteFiles(
						t,
						fs.Proc,
						"fs/jbd2/"+cmp.Or(c.file, "sda-8")+" info="+c.journal(journal),
					)
				}
			}
			show(1000, 1000, 1000)
			disks, err := MachineCounters(fs, []string{"sda"}, c.others)
			require.NoError(t, err)
			was := read(t, disks)
			show(1200, 1150, 1050)
			now := read(t, disks)
			writes := column(t, disks, "disk.sda.writes_per_second", 1, was, now)
			why := disks.writes["sda"].Unknown
			if c.why != "" {
				assert.Contains(t, why, c.why)
				assert.True(t, math.IsNaN(writes), "%v", writes)
				return
			}
			assert.Empty(t, why)
			assert.Equal(t, c.writes, writes)
		})
	}
}

// TestTimesBeginAnew: the kernel's sums of times are of 32 bits; where they begin anew, writes take
// as they did.
func TestTimesBeginAnew(t *testing.T) {
	const end = (1 << 32) / 1000. // seconds
	was := make([]float64, len(figureKinds["drive"]))
	now := make([]float64, len(figureKinds["drive"]))
	now[diskWrites] = 200
	was[diskWriteSeconds] = end - .1
	now[diskWriteSeconds] = .2
	now[diskFlushes] = 100
	was[diskFlushSeconds] = end - .05
	now[diskFlushSeconds] = .05
	var w writeCounter
	w.countWrites(was)
	w.countWrites(now)
	assert.InDelta(t, 100, now[diskWrites], 0)
	assert.InDelta(t, .2, now[diskWriteSeconds], 1e-6)
}

// TestGone has a drive taken away, and a kernel that does not tell the memory available: both are
// unknown, and neither stands at 0.
func TestGone(t *testing.T) {
	fs := kernelFiles(t)
	const sda, sdb = "8 0 sda 100 0 800 50 200 0 1600 400 0 1000 5000\n", "8 16 sdb 1 0 8 5 2 0 16 4 0 10 50\n"
	machinetest.Write(t, fs.Proc, "diskstats", sda+sdb)
	machinetest.Write(t, fs.Proc, "meminfo", "MemTotal: 1000 kB\nMemFree: 10 kB\n")
	disks, err := MachineCounters(fs, []string{"sda", "sdb"}, nil)
	require.NoError(t, err)
	was := read(t, disks)
	machinetest.Write(t, fs.Proc, "diskstats", sdb)
	now := read(t, disks)
	for _, name := range []string{"reads_per_second", "written_bytes_per_second", "busy_ratio", "queue"} {
		assert.InDelta(
			t,
			math.NaN(),
			column(t, disks, "disk.sda."+name, 1, was, now),
			0,
			"%s, gone",
			name,
		)
		assert.Zero(t, column(t, disks, "disk.sdb."+name, 1, was, now), "%s of the other", name)
	}
	assert.InDelta(t, math.NaN(), column(t, disks, MemoryAvailable, 1, was, now), 0)
	_, err = MachineCounters(fs, []string{"no-such-device"}, nil)
	assert.Error(t, err)
}

// TestNetworkColumns computes the columns of a 1 Gb/s link by hand; a link of unknown speed has no
// share.
func TestNetworkColumns(t *testing.T) {
	fs := kernelFiles(t)
	traffic := func(received, sent int) {
		machinetest.Write(
			t,
			fs.Proc,
			"net/dev",
			"Inter-|   Receive |  Transmit\n face |bytes packets\n"+
				"    lo: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n"+
				fmt.Sprintf("  eth0: %d 0 0 0 0 0 0 0 %d 0 0 0 0 0 0 0\n", received, sent)+
				"  eth1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		)
	}
	machinetest.WriteFiles(t, fs.Sys, "class/net/eth0 speed=1000\nclass/net/eth1 speed=-1")
	traffic(0, 0)
	network, err := MachineCounters(fs, nil, nil)
	require.NoError(t, err)
	was := read(t, network)
	traffic(50_000_000, 200_000_000)
	now := read(t, network)
	for name, want := range map[string]float64{
		"received_bytes_per_second": 25_000_000,
		"sent_bytes_per_second":     100_000_000,
		"used_ratio":                0.8,
	} {
		assert.Equal(t, want, column(t, network, "network.eth0."+name, 2, was, now), name)
	}
	assert.NotContains(t, names(network.Columns), "network.eth1.used_ratio")
	assert.NotContains(t, strings.Join(names(network.Columns), " "), "network.lo.")
}

// TestClient reads what this process takes while it keeps one CPU busy.
func TestClient(t *testing.T) {
	own, err := OwnSources(topology.Root)
	require.NoError(t, err)
	was := read(t, own[0])[1]
	now := read(t, own[0])
	// on a busy machine it takes a while
	for start := time.Now(); now[1] < was+.1; now = read(t, own[0]) {
		require.Less(t, time.Since(start), 5*time.Minute, "for %v s", now[1]-was)
	}
	for i, least := range map[int]float64{2: 1 << 20, 3: 3, 4: 1} { // memory, files, goroutines
		assert.GreaterOrEqual(t, now[i], least, own[0].Figures[i].Name)
	}
}

func TestConditions(t *testing.T) {
	fs := kernelFiles(t)
	bare, err := MachineCounters(fs, nil, nil)
	require.NoError(t, err)
	want := []string{
		CPUBusy,
		CPUIOWait,
		"cpu.0.busy_ratio",
		"cpu.1.busy_ratio",
		MemoryAvailable,
		CPUSteal,
	}
	require.Equal(t, want, names(bare.Columns), "a machine that shows nothing but its CPUs")
	for cpu, throttled := range map[string]string{"cpu0": "3", "cpu1": "4"} {
		dir := "devices/system/cpu/" + cpu
		machinetest.WriteFiles(
			t,
			fs.Sys,
			dir+"/thermal_throttle core_throttle_count="+throttled+" package_throttle_count=10\n"+
				dir+"/topology core_id=0 physical_package_id=0 core_siblings_list=0-1 thread_siblings_list=0",
		)
	}
	machinetest.WriteFiles(
		t,
		fs.Sys,
		"class/thermal/thermal_zone0 type=acpitz policy=step_wise temp=41000",
	)
	source, err := MachineCounters(fs, nil, nil)
	require.NoError(t, err)
	was := read(t, source)
	// Half a second of two CPUs' two seconds.
	machinetest.Write(
		t,
		fs.Proc,
		"stat",
		strings.ReplaceAll(machinetest.TwoCPUs, "100 0 0\n", "150 0 0\n"),
	)
	machinetest.Write(
		t,
		fs.Sys,
		"devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
		"7",
	)
	machinetest.Write(t, fs.Sys, "class/thermal/thermal_zone0/temp", "55500")
	now := read(t, source)
	for name, want := range map[string]float64{
		CPUSteal: .25, CPUBusy: .25, "cpu.0.busy_ratio": .5, CPUThrottles: 4, Temperature: 55.5,
	} {
		assert.InDelta(t, want, column(t, source, name, 1, was, now), 1e-9, name)
	}
}

// kernelFiles makes /proc and /sys of a machine with two CPUs that shows as little as any.
func kernelFiles(t *testing.T) topology.FS {
	proc, sys := machinetest.Files(t)
	return topology.FS{Proc: proc, Sys: sys}
}
