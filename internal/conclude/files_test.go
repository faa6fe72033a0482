package conclude

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/diagnose"
	"ds2/internal/monitor"
)

// TestFilesStandForDrives concludes a run of which nobody observed the machine, as on Windows and in Azure: what the
// server counted of its files and waits is all there is. Limits, verdict, costs and conditions come from it.
func TestFilesStandForDrives(t *testing.T) {
	table := sampled(1, 60, func(int) []float64 {
		return []float64{400, 50, .016, .030, 7.9, 0, 100, math.NaN(), .004, .4, 1, 6, 1, 5.5, .5}
	},
		"disk.cust_1.reads_per_second", "disk.cust_1.writes_per_second", "disk.cust_1.read_seconds",
		"disk.cust_1.write_seconds", "disk.cust_1.queue",
		"disk.log_1.reads_per_second", "disk.log_1.writes_per_second", "disk.log_1.read_seconds",
		"disk.log_1.write_seconds", "disk.log_1.queue",
		monitor.SessionsRunning, monitor.SessionsWaitingForDrives, monitor.SessionsIdle,
		monitor.WaitsDataRead, monitor.WaitsLogWrite)
	s := ofWindow(0, 60)
	s.Targets, s.Threads, s.End = []string{"host/DS2"}, 8, start.Add(time.Minute)
	s.Machine = &monitor.Machine{Drives: []monitor.Drive{
		{Name: "cust_1", File: true, Roles: []monitor.Role{monitor.Data}},
		{Name: "log_1", File: true, Roles: []monitor.Role{monitor.Log}},
	}}
	s.Windows[0].OPM, s.Windows[0].Counts.Orders = 6000, 6000
	s.LimitTexts = []string{
		"device read mean < 20ms", "device write max < 20ms", "data read mean < 10ms", "log write max < 5ms",
		"iops > 300",
	}
	v := seen(table, s)
	all, err := verdicts(v.Input, v.window)
	require.NoError(t, err)
	for i, want := range []struct {
		measured float64
		ok       bool
	}{{.016, true}, {.030, false}, {.016, false}, {.004, true}, {450, true}} {
		require.NotNil(t, all[i].Measured, all[i])
		assert.InDelta(t, want.measured, *all[i].Measured, 1e-9, all[i])
		assert.Equal(t, want.ok, all[i].OK, all[i])
	}
	f := v.figures()
	assert.Equal(t, diagnose.Storage, diagnose.Judge(f).What)
	assert.True(t, f.ReadFromDrives())
	assert.InDelta(t, 4, *v.costs(nil).Reads, 1e-9)
	conditions := named(v.conditions())
	assert.Contains(t, conditions, "read latency, slowest device")
	assert.NotContains(t, conditions, "busiest device")
}
