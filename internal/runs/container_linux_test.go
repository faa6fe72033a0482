package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/diagnose"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// confined puts a server into a control group of its own with a tenth of a processor and 300 MB.
func confined(t *testing.T, server *localpg.Server) {
	t.Helper()
	const top = "/sys/fs/cgroup"
	name := fmt.Sprintf("ds2-test-%d", os.Getpid())
	limits := map[string]string{"cpu/" + name + "/cpu.cfs_quota_us": "10000", "memory/" + name + "/memory.limit_in_bytes": "300000000"}
	if _, err := os.Stat(top + "/cgroup.controllers"); err == nil {
		limits = map[string]string{name + "/cpu.max": "10000 100000", name + "/memory.max": "300000000"}
		os.WriteFile(top+"/cgroup.subtree_control", []byte("+cpu +memory"), 0) // where it may
	}
	processes := pgtest.Processes(t, server.DataDir())
	for file, limit := range limits {
		file = filepath.Join(top, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Skipf("no control group can be made: %v", err)
		}
		t.Cleanup(func() { os.Remove(filepath.Dir(file)) })
		if err := os.WriteFile(file, []byte(limit), 0); err != nil {
			t.Skipf("no control group can be limited: %v", err)
		}
		for i, process := range processes {
			if err := os.WriteFile(filepath.Join(filepath.Dir(file), "cgroup.procs"), []byte(process), 0); err != nil && i == len(processes)-1 {
				t.Skipf("no process can be put into a control group: %v", err)
			}
		}
	}
	t.Cleanup(func() { server.Stop() }) // before the groups go
}

// TestContainer runs against a server that is held to a tenth of a processor and 300 MB, and has the run say so.
func TestContainer(t *testing.T) {
	t.Parallel()
	server, s := loaded(t, localpg.Options{})
	confined(t, server)
	o := options(t, s)
	o.Driver.Think, o.Driver.Run = 0, 0 // until stopped
	observe(t, &o, monitor.Options{})
	if c := o.Observer.Servers[0].Container; c == nil || c.Processors != 0.1 || c.MemoryBytes < 299e6 || c.MemoryBytes > 300e6 {
		t.Fatalf("the server's container is %+v", c)
	}
	if text := strings.Join(o.Observer.Reads, "\n"); !strings.Contains(text, "fits into the 29") { // in whole pages
		t.Errorf("warnings: %q", text)
	}
	run := begin(t, o)
	var end time.Time
	summary, err := driveUntil(t, run, func() {
		moreOrders(t.Context(), run, 20)
		later(t.Context(), run, 5*time.Second)
		end = time.Now()
	})
	require.NoError(t, err)
	b := summary.Bottleneck
	record, err := result.Read(o.Dir)
	require.NoError(t, err)
	for column, want := range map[string][2]float64{
		monitor.ServerProcessors: {0.001, 0.15}, monitor.ServerUsed: {0.01, 1.5}, monitor.ServerThrottled: {0, 1}, monitor.ServerMemory: {1e6, 300e6},
	} {
		if v := record.Host.Mean(column, record.Start.Add(time.Second), end); !(v >= want[0] && v <= want[1]) {
			t.Errorf("%s is %v, want %v", column, v, want)
		}
	}
	// Where other programs leave it less than it may use, the machine is short of processors, not the container.
	if used := record.Host.Mean(monitor.ServerUsed, record.Start.Add(time.Second), end); used > 0.9 && (!held(t, b, diagnose.CPU) || !strings.Contains(b.Why, "of the 0.1 processors that it may use")) {
		t.Errorf("bottleneck %s: %s", b.What, b.Why)
	}
	t.Logf("%s: %s", b.What, b.Why)
}
