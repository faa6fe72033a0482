package monitor

import (
	"fmt"
	"os"
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
