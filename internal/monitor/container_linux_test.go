package monitor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestContainer reads the limits of version 1 and 2, on the process's own group and on those above it, as the machine
// shows them and as a container without a namespace of its own for groups does.
func TestContainer(t *testing.T) {
	const pid = 4711
	none := "9223372036854771712"
	for _, c := range []struct {
		why, memberships string
		mounts           func(sys string) string
		files            map[string]string
		want             Container
		available        float64
	}{
		{"version 2, limits on the pod above", "0::/kubepods/pod1/pg\n",
			func(sys string) string {
				return "30 20 0:26 / " + sys + " rw - cgroup2 cgroup2 rw\n"
			},
			map[string]string{
				"kubepods/cgroup.controllers": "cpuset cpu memory\n", "kubepods/memory.max": "max\n", "kubepods/cpu.max": "max 100000\n",
				"kubepods/pod1/memory.max": "4000000000\n", "kubepods/pod1/cpu.max": "250000 100000\n",
				"kubepods/pod1/pg/cgroup.controllers": "cpuset cpu memory\n", "kubepods/pod1/pg/memory.max": "max\n", "kubepods/pod1/pg/cpu.max": "max 100000\n",
				"kubepods/pod1/memory.current": "1000000000\n", "kubepods/pod1/memory.stat": "anon 100\ninactive_file 200000000\nactive_file 300000000\n",
				"kubepods/pod1/cpu.stat":          "usage_usec 900\nnr_periods 100\nnr_throttled 40\nthrottled_usec 5000000\n",
				"kubepods/pod1/pg/memory.current": "400000000\n", "kubepods/pod1/pg/memory.stat": "anon 100\ninactive_file 0\nactive_file 0\n",
				"kubepods/pod1/pg/cpu.stat": "usage_usec 900\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
			},
			Container{4000000000, 2.5}, 3500000000},
		{"version 1, limits of its own", "4:memory:/docker/abc\n3:cpuset:/docker/abc\n2:cpu,cpuacct:/docker/abc\n",
			func(sys string) string {
				return "31 20 0:27 / " + sys + "/memory rw - cgroup cgroup rw,memory\n32 20 0:28 / " + sys + "/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" +
					"33 20 0:29 / " + sys + "/cpuset rw - cgroup cgroup rw,cpuset\n"
			},
			map[string]string{
				"memory/memory.limit_in_bytes": none, "memory/docker/abc/memory.limit_in_bytes": "700000000\n", "memory/docker/abc/memory.usage_in_bytes": "650000000\n",
				"memory/docker/abc/memory.stat":   "total_inactive_file 100000000\ntotal_active_file 50000000\n",
				"cpu/docker/abc/cpu.cfs_quota_us": "50000\n", "cpu/docker/abc/cpu.cfs_period_us": "100000\n", "cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n",
				"cpu/docker/abc/cpu.stat": "nr_periods 100\nnr_throttled 40\nthrottled_time 5000000000\n",
			},
			Container{700000000, 0.5}, 200000000},
		{"version 1, a lower limit above one of its own", "4:memory:/pod/abc\n2:cpu,cpuacct:/pod/abc\n",
			func(sys string) string {
				return "31 20 0:27 / " + sys + "/memory rw - cgroup cgroup rw,memory\n32 20 0:28 / " + sys + "/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
			},
			map[string]string{
				"memory/memory.limit_in_bytes": none, "memory/pod/memory.limit_in_bytes": "700000000\n", "memory/pod/memory.usage_in_bytes": "650000000\n",
				"memory/pod/memory.stat":               "total_inactive_file 100000000\ntotal_active_file 50000000\n",
				"memory/pod/abc/memory.limit_in_bytes": "900000000\n", "memory/pod/abc/memory.usage_in_bytes": "100000000\n", "memory/pod/abc/memory.stat": "total_inactive_file 0\n",
				"cpu/pod/cpu.cfs_quota_us": "50000\n", "cpu/pod/cpu.cfs_period_us": "100000\n", "cpu/pod/cpu.stat": "nr_periods 100\nnr_throttled 40\nthrottled_time 5000000000\n",
				"cpu/pod/abc/cpu.cfs_quota_us": "80000\n", "cpu/pod/abc/cpu.cfs_period_us": "100000\n", "cpu/pod/abc/cpu.stat": "nr_periods 100\nnr_throttled 0\nthrottled_time 0\n",
			},
			Container{700000000, 0.5}, 200000000},
		{"version 1 from within, where the mount is the container's part", "4:memory:/docker/abc\n2:cpu:/docker/abc\n",
			func(sys string) string {
				return "31 20 0:27 /docker/abc " + sys + "/memory rw - cgroup cgroup rw,memory\n32 20 0:28 /docker/abc " + sys + "/cpu rw - cgroup cgroup rw,cpu\n"
			},
			map[string]string{
				"memory/memory.limit_in_bytes": "700000000\n", "memory/memory.usage_in_bytes": "650000000\n", "memory/memory.stat": "total_inactive_file 0\n",
				"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n",
				"cpu/cpu.stat": "nr_periods 100\nnr_throttled 40\nthrottled_time 5000000000\n",
			},
			Container{700000000, 2}, 50000000},
		{"no limits", "0::/system.slice/postgresql.service\n",
			func(sys string) string { return "30 20 0:26 / " + sys + " rw - cgroup2 cgroup2 rw\n" },
			map[string]string{
				"system.slice/postgresql.service/cgroup.controllers": "cpu memory\n", "system.slice/postgresql.service/memory.max": "max\n",
				"system.slice/postgresql.service/cpu.max": "max 100000\n",
			},
			Container{}, 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			proc, sys := t.TempDir(), t.TempDir()
			write(t, proc, fmt.Sprintf("%d/cgroup", pid), c.memberships)
			write(t, proc, fmt.Sprintf("%d/mountinfo", os.Getpid()), c.mounts(sys))
			for name, text := range c.files {
				write(t, sys, name, text)
			}
			g, err := FS{proc, sys}.groups(pid)
			require.NoError(t, err)
			limits := g.container()
			assert.Equal(t, c.want, limits, "limits")
			if c.want.Processors > 0 {
				throttled, periods, seconds, err := g.cpu.throttling()
				if err != nil || throttled != 40 || periods != 100 || seconds != 5 {
					t.Errorf("throttled %v of %v periods, %v s, %v", throttled, periods, seconds, err)
				}
			}
			if c.want.MemoryBytes > 0 {
				if v, err := g.memory.available(limits.MemoryBytes); err != nil || v != c.available {
					t.Errorf("available %v, %v; want %v", v, err, c.available)
				}
			}
		})
	}
}

// TestRealGroup puts a process that never rests into a control group of this machine, of the version that it has, below
// one with a tenth of a processor and 64 MiB, and reads how the kernel holds it back.
func TestRealGroup(t *testing.T) {
	const top = "/sys/fs/cgroup"
	name := fmt.Sprintf("ds2-test-group-%d", os.Getpid())
	limits := map[string]string{"cpu/" + name + "/cpu.cfs_quota_us": "10000", "memory/" + name + "/memory.limit_in_bytes": "67108864"}
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
	g, err := FS{"/proc", "/sys"}.groups(busy.Process.Pid)
	require.NoError(t, err)
	if g.cpu.v2 != v2 || g.memory.v2 != v2 {
		t.Errorf("version 2: %v and %v, want %v", g.cpu.v2, g.memory.v2, v2)
	}
	assert.Equal(t, (Container{67108864, 0.1}), g.container(), "limits")
	throttled, periods, seconds, err := g.cpu.throttling()
	for deadline := time.Now().Add(5 * time.Minute); (throttled < 3 || seconds < 0.1) && err == nil && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		throttled, periods, seconds, err = g.cpu.throttling()
	}
	if err != nil || throttled < 3 || periods < throttled || seconds < 0.1 {
		t.Errorf("throttled %v of %v periods, %v s, %v", throttled, periods, seconds, err)
	}
	if v, err := g.memory.available(67108864); err != nil || v < 32<<20 || v > 67108864 {
		t.Errorf("available %v, %v", v, err)
	}
	seconds, _, err = FS{"/proc", "/sys"}.taken(busy.Process.Pid)
	for deadline := time.Now().Add(5 * time.Minute); seconds < 0.05 && err == nil && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		seconds, _, err = FS{"/proc", "/sys"}.taken(busy.Process.Pid)
	}
	require.NoError(t, err)
	require.GreaterOrEqual(t, seconds, 0.05)
	t.Logf("version 2: %v; throttled %v of %v periods; the process took %.2f s", v2, throttled, periods, seconds)
}
