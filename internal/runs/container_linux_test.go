package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/diagnose"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/sampling"
	"ds2/internal/texttest"
)

// confined puts a server into a separate control group with a tenth of a CPU and 300 MB.
func confined(t *testing.T, server *localpg.Server) {
	t.Helper()
	const top = "/sys/fs/cgroup"
	if _, err := os.Stat(top + "/cgroup.controllers"); err != nil {
		t.Skip("this machine has no control groups of version 2 alone")
	}
	os.WriteFile(top+"/cgroup.subtree_control", []byte("+cpu +memory"), 0) // where it may
	group := filepath.Join(top, fmt.Sprintf("ds2-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no control group can be made: %v", err)
	}
	t.Cleanup(func() { os.Remove(group) })
	for file, limit := range map[string]string{"cpu.max": "10000 100000", "memory.max": "300000000"} {
		if err := os.WriteFile(filepath.Join(group, file), []byte(limit), 0); err != nil {
			t.Skipf("no control group can be limited: %v", err)
		}
	}
	processes := pgtest.Processes(t, server.DataDir())
	for i, process := range processes {
		err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(process), 0)
		if err != nil && i == len(processes)-1 {
			t.Skipf("no process can be put into a control group: %v", err)
		}
	}
	t.Cleanup(func() { server.Stop() }) // before the groups go
}

// TestContainer runs against a server that is held to a tenth of a CPU and 300 MB, and has the run
// say so.
func TestContainer(t *testing.T) {
	t.Parallel()
	server, o := ready(t, localpg.Options{})
	confined(t, server)
	// until stopped
	o.ThinkTime.Duration = 0
	o.RunTime.Duration = 0
	observe(t, &o, monitor.Options{})
	c := o.Observer.Servers[0].Container
	require.NotNil(t, c)
	require.Equal(t, 0.1, c.Processors)
	require.InDelta(t, 299.5e6, c.MemoryBytes, .5e6)
	texttest.Contains(t, fmt.Sprint(o.Observer.Found), "fits into the 29") // in whole pages
	run := begin(t, o)
	var end time.Time
	r := recorded(t, run, func() {
		moreOrders(t, run, 20)
		later(t, run, 5*time.Second)
		end = time.Now()
	})
	mean := func(column string) float64 {
		return r.Host.Mean(column, r.Start.Add(time.Second), end)
	}
	for column, want := range map[string][2]float64{
		sampling.ServerProcessors: {0.001, 0.15}, sampling.ServerUsed: {0.01, 1.5},
		sampling.ServerThrottled: {0, 1}, sampling.ServerMemory: {1e6, 300e6},
	} {
		v := mean(column)
		assert.True(t, v >= want[0] && v <= want[1], "%s is %v, want %v", column, v, want)
	}
	// Where other programs leave it less than it may use, the machine is short of CPUs, not the
	// container.
	b := r.Bottleneck
	if mean(sampling.ServerUsed) > 0.9 {
		assert.True(t, held(t, b, diagnose.CPU), b.What)
		assert.Contains(t, b.Why, "of the 0.1 CPUs that it may use")
	}
	t.Logf("%s: %s", b.What, b.Why)
}
