package monitor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestContainer reads the limits of version 1 and 2, on the process's own group and on those above it, as the machine
// shows them and as a container without a namespace of its own for groups does.
func TestContainer(t *testing.T) {
	const pid, none = 4711, "9223372036854771712"
	const v1 = "31 20 0:27 / @/memory rw - cgroup cgroup rw,memory\n" +
		"32 20 0:28 / @/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
	const v2 = "30 20 0:26 / @ rw - cgroup2 cgroup2 rw\n"
	for _, c := range []struct {
		why, memberships string
		mounts           string // @ stands for the directory that plays /sys
		files            string // as of writeFiles
		want             Container
		available        float64
	}{
		{"version 2, limits on the pod above", "0::/kubepods/pod1/pg\n", v2, `
			kubepods         cgroup.controllers=cpuset+cpu+memory memory.max=max cpu.max=max+100000
			kubepods/pod1    memory.max=4000000000 cpu.max=250000+100000 memory.current=1000000000
			kubepods/pod1    memory.stat=anon+100,inactive_file+200000000,active_file+300000000
			kubepods/pod1    cpu.stat=usage_usec+900,nr_periods+100,nr_throttled+40,throttled_usec+5000000
			kubepods/pod1/pg cgroup.controllers=cpuset+cpu+memory memory.max=max cpu.max=max+100000
			kubepods/pod1/pg memory.current=400000000 memory.stat=anon+100,inactive_file+0,active_file+0
			kubepods/pod1/pg cpu.stat=usage_usec+900,nr_periods+0,nr_throttled+0,throttled_usec+0`,
			Container{4000000000, 2.5}, 3500000000},
		{"version 1, limits of its own", "4:memory:/docker/abc\n3:cpuset:/docker/abc\n2:cpu,cpuacct:/docker/abc\n",
			v1 + "33 20 0:29 / @/cpuset rw - cgroup cgroup rw,cpuset\n", `
			memory            memory.limit_in_bytes=` + none + `
			memory/docker/abc memory.limit_in_bytes=700000000 memory.usage_in_bytes=650000000
			memory/docker/abc memory.stat=total_inactive_file+100000000,total_active_file+50000000
			cpu               cpu.cfs_quota_us=-1 cpu.cfs_period_us=100000
			cpu/docker/abc    cpu.cfs_quota_us=50000 cpu.cfs_period_us=100000
			cpu/docker/abc    cpu.stat=nr_periods+100,nr_throttled+40,throttled_time+5000000000`,
			Container{700000000, 0.5}, 200000000},
		{"version 1, a lower limit above one of its own", "4:memory:/pod/abc\n2:cpu,cpuacct:/pod/abc\n", v1, `
			memory         memory.limit_in_bytes=` + none + `
			memory/pod     memory.limit_in_bytes=700000000 memory.usage_in_bytes=650000000
			memory/pod     memory.stat=total_inactive_file+100000000,total_active_file+50000000
			memory/pod/abc memory.limit_in_bytes=900000000 memory.usage_in_bytes=100000000
			memory/pod/abc memory.stat=total_inactive_file+0
			cpu/pod        cpu.cfs_quota_us=50000 cpu.cfs_period_us=100000
			cpu/pod        cpu.stat=nr_periods+100,nr_throttled+40,throttled_time+5000000000
			cpu/pod/abc    cpu.cfs_quota_us=80000 cpu.cfs_period_us=100000
			cpu/pod/abc    cpu.stat=nr_periods+100,nr_throttled+0,throttled_time+0`,
			Container{700000000, 0.5}, 200000000},
		{"version 1 from within, where the mount is the container's part", "4:memory:/docker/abc\n2:cpu:/docker/abc\n",
			strings.ReplaceAll(v1, " / ", " /docker/abc "), `
			memory memory.limit_in_bytes=700000000 memory.usage_in_bytes=650000000 memory.stat=total_inactive_file+0
			cpu    cpu.cfs_quota_us=200000 cpu.cfs_period_us=100000
			cpu    cpu.stat=nr_periods+100,nr_throttled+40,throttled_time+5000000000`,
			Container{700000000, 2}, 50000000},
		{"no limits", "0::/system.slice/postgresql.service\n", v2, `
			system.slice/postgresql.service cgroup.controllers=cpu+memory memory.max=max cpu.max=max+100000`,
			Container{}, 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			proc, sys := t.TempDir(), t.TempDir()
			write(t, proc, fmt.Sprintf("%d/cgroup", pid), c.memberships)
			write(t, proc, fmt.Sprintf("%d/mountinfo", os.Getpid()), strings.ReplaceAll(c.mounts, "@", sys))
			writeFiles(t, sys, c.files)
			g, err := FS{proc, sys}.groups(pid)
			require.NoError(t, err)
			limits := g.container()
			assert.Equal(t, c.want, limits, "limits")
			if c.want.Processors > 0 {
				throttled, periods, seconds, err := g.cpu.throttling()
				require.NoError(t, err)
				assert.Equal(t, []float64{40, 100, 5}, []float64{throttled, periods, seconds})
			}
			if c.want.MemoryBytes > 0 {
				available, err := g.memory.available(limits.MemoryBytes)
				require.NoError(t, err)
				assert.Equal(t, c.available, available)
			}
		})
	}
}

// TestRealGroup puts a process that never rests into a control group of this machine, of the version that it has, below
// one with a tenth of a processor and 64 MiB, and reads how the kernel holds it back.
func TestRealGroup(t *testing.T) {
	const top = "/sys/fs/cgroup"
	name := fmt.Sprintf("ds2-test-group-%d", os.Getpid())
	limits := map[string]string{
		"cpu/" + name + "/cpu.cfs_quota_us": "10000", "memory/" + name + "/memory.limit_in_bytes": "67108864",
	}
	v2 := isDirectory(top) && line(top+"/cgroup.controllers") != ""
	if v2 {
		limits = map[string]string{name + "/cpu.max": "10000 100000", name + "/memory.max": "67108864"}
		os.WriteFile(top+"/cgroup.subtree_control", []byte("+cpu +memory"), 0) // where it may
	}
	busy := exec.Command("sh", "-c", "while :; do :; done")
	require.NoError(t, busy.Start())
	for file, limit := range limits {
		file = filepath.Join(top, file)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		t.Cleanup(func() { os.Remove(filepath.Dir(file)) })
		if err == nil {
			err = os.WriteFile(file, []byte(limit), 0)
		}
		below := filepath.Join(filepath.Dir(file), "below")
		t.Cleanup(func() { os.Remove(below) })
		if err == nil {
			err = os.MkdirAll(below, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(below, "cgroup.procs"), []byte(strconv.Itoa(busy.Process.Pid)), 0)
		}
		if err != nil {
			busy.Process.Kill()
			busy.Wait()
			t.Skipf("no control group can be made and limited: %v", err)
		}
	}
	t.Cleanup(func() { // before the groups go
		busy.Process.Kill()
		busy.Wait()
	})
	g, err := Root.groups(busy.Process.Pid)
	require.NoError(t, err)
	assert.Equal(t, []bool{v2, v2}, []bool{g.cpu.v2, g.memory.v2}, "version 2")
	assert.Equal(t, (Container{67108864, 0.1}), g.container(), "limits")
	await(t, "the process is held back", func() bool {
		throttled, periods, seconds, err := g.cpu.throttling()
		require.NoError(t, err)
		require.LessOrEqual(t, throttled, periods)
		return throttled >= 3 && seconds >= 0.1
	})
	if v, err := g.memory.available(67108864); err != nil || v < 32<<20 || v > 67108864 {
		t.Errorf("available %v, %v", v, err)
	}
	await(t, "the process takes time", func() bool {
		seconds, _, err := Root.taken(busy.Process.Pid)
		require.NoError(t, err)
		return seconds >= 0.05
	})
}
