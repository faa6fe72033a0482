package topology

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ds2/internal/machinetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestContainer reads the limits on the process's own group and on those above it, as the machine
// shows them and as a container without its own cgroup namespace does.
func TestContainer(t *testing.T) {
	const pid = 4711
	const v1 = "31 20 0:27 / @/memory rw - cgroup cgroup rw,memory\n"
	const v2 = "30 20 0:26 / @ rw - cgroup2 cgroup2 rw\n"
	for _, c := range []struct {
		why, memberships string
		mounts           string // @ stands for the directory that plays /sys
		files            string // as of writeFiles
		want             Container
		available        float64
	}{
		{
			"limits on the pod above", "0::/kubepods/pod1/pg\n", v2, `
			kubepods         cgroup.controllers=cpuset+cpu+memory memory.max=max cpu.max=max+100000
			kubepods/pod1    memory.max=4000000000 cpu.max=250000+100000 memory.current=1000000000
			kubepods/pod1    memory.stat=anon+100,inactive_file+200000000,active_file+300000000
			kubepods/pod1    cpu.stat=usage_usec+900,nr_periods+100,nr_throttled+40,throttled_usec+5000000
			kubepods/pod1/pg cgroup.controllers=cpuset+cpu+memory memory.max=max cpu.max=max+100000
			kubepods/pod1/pg memory.current=400000000 memory.stat=anon+100,inactive_file+0,active_file+0
			kubepods/pod1/pg cpu.stat=usage_usec+900,nr_periods+0,nr_throttled+0,throttled_usec+0`,
			Container{4000000000, 2.5},
			3500000000,
		},
		{
			"a lower limit above its own", "4:memory:/\n0::/pod/abc\n", v1 + v2, `
			pod     cgroup.controllers=cpu+memory memory.max=700000000 memory.current=650000000 cpu.max=50000+100000
			pod     memory.stat=inactive_file+100000000,active_file+50000000
			pod     cpu.stat=nr_periods+100,nr_throttled+40,throttled_usec+5000000
			pod/abc cgroup.controllers=cpu+memory memory.max=900000000 memory.current=100000000 cpu.max=80000+100000
			pod/abc memory.stat=inactive_file+0 cpu.stat=nr_periods+100,nr_throttled+0,throttled_usec+0`,
			Container{700000000, 0.5},
			200000000,
		},
		{
			"from within, where the mount is the container's part", "0::/docker/abc\n",
			strings.ReplaceAll(v2, " / ", " /docker/abc "), `
			. cgroup.controllers=cpu+memory memory.max=700000000 memory.current=650000000 memory.stat=inactive_file+0
			. cpu.max=200000+100000 cpu.stat=nr_periods+100,nr_throttled+40,throttled_usec+5000000`,
			Container{700000000, 2},
			50000000,
		},
		{
			"version 1", "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/docker/abc\n", v1 +
				"32 20 0:28 / @/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" +
				"33 20 0:29 / @/unified rw - cgroup2 cgroup2 rw\n", `
			memory            memory.limit_in_bytes=9223372036854771712
			memory/docker     memory.limit_in_bytes=9223372036854771712
			memory/docker/abc memory.limit_in_bytes=700000000 memory.usage_in_bytes=650000000
			memory/docker/abc memory.stat=inactive_file+1,total_inactive_file+100000000,total_active_file+50000000
			cpu               cpu.cfs_quota_us=-1 cpu.cfs_period_us=100000
			cpu/docker        cpu.cfs_quota_us=-1 cpu.cfs_period_us=100000
			cpu/docker/abc    cpu.cfs_quota_us=150000 cpu.cfs_period_us=100000
			cpu/docker/abc    cpu.stat=nr_periods+100,nr_throttled+40,throttled_time+5000000000`,
			Container{700000000, 1.5},
			200000000,
		},
		{
			"no limits", "0::/system.slice/postgresql.service\n", v2, `
			system.slice/postgresql.service cgroup.controllers=cpu+memory memory.max=max cpu.max=max+100000`,
			Container{},
			0,
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			proc := t.TempDir()
			sys := t.TempDir()
			machinetest.Write(t, proc, fmt.Sprintf("%d/cgroup", pid), c.memberships)
			machinetest.Write(
				t,
				proc,
				fmt.Sprintf("%d/mountinfo", os.Getpid()),
				strings.ReplaceAll(c.mounts, "@", sys),
			)
			machinetest.WriteFiles(t, sys, c.files)
			g, err := FS{proc, sys}.Limits(pid)
			require.NoError(t, err)
			assert.Equal(t, c.want, g.Container, "limits")
			if c.want.Processors > 0 {
				throttling, err := g.Throttling(t.Context())
				require.NoError(t, err)
				assert.Equal(t, []float64{40, 100, 5}, throttling)
			}
			if c.want.MemoryBytes > 0 {
				available, err := g.Available(t.Context())
				require.NoError(t, err)
				assert.Equal(t, []float64{c.available}, available)
			}
		})
	}
}
