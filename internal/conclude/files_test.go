package conclude

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// TestFilesStandForDrives concludes a run of which nobody observed the machine, as on Windows and in Azure: what the
// server counted of its files and waits is all there is. Limits, verdict, costs and conditions come from it.
func TestFilesStandForDrives(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	table := monitor.Table{Columns: []string{
		"disk.cust_1.reads_per_second", "disk.cust_1.writes_per_second", "disk.cust_1.read_seconds", "disk.cust_1.write_seconds", "disk.cust_1.queue",
		"disk.log_1.reads_per_second", "disk.log_1.writes_per_second", "disk.log_1.read_seconds", "disk.log_1.write_seconds", "disk.log_1.queue",
		monitor.SessionsRunning, monitor.SessionsWaitingForDrives, monitor.SessionsIdle, monitor.WaitsDataRead, monitor.WaitsLogWrite,
	}}
	for second := 1; second <= 60; second++ {
		table.Rows = append(table.Rows, monitor.Row{Time: start.Add(time.Duration(second) * time.Second), Values: []float64{
			400, 50, .016, .030, 400*.016 + 50*.030,
			0, 100, math.NaN(), .004, 100 * .004,
			1, 6, 1, 5.5, .5,
		}})
	}
	machine := &monitor.Machine{Drives: []monitor.Drive{
		{Name: "cust_1", File: true, Roles: []monitor.Role{monitor.Data}}, {Name: "log_1", File: true, Roles: []monitor.Role{monitor.Log}},
	}}
	opm := 6000.0
	s := result.Summary{
		Asked:      result.Asked{Targets: []string{"host/DS2"}, Threads: 8},
		Happened:   result.Happened{Start: start, End: start.Add(time.Minute), Machine: machine},
		Conclusion: result.Conclusion{Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: opm}), Windows: []measure.Window{{To: 60, OPM: opm, Counts: measure.Counts{Orders: 6000}}}},
	}
	s.LimitTexts = []string{"device read mean < 20ms", "device write max < 20ms", "data read mean < 10ms", "log write max < 5ms", "iops > 300"}
	v := seen(table, s)
	all, err := verdicts(v.Input, v.window)
	require.NoError(t, err)
	for i, want := range []struct {
		measured float64
		ok       bool
	}{{.016, true}, {.030, false}, {.016, false}, {.004, true}, {450, true}} {
		if v := all[i]; v.Measured == nil || math.Abs(*v.Measured-want.measured) > 1e-9 || v.OK != want.ok {
			t.Errorf("%s, want %v, %v", v, want.measured, want.ok)
		}
	}
	f := v.figures()
	if b := diagnose.Judge(f); b == nil || b.What != diagnose.Storage || !f.ReadFromDrives() {
		t.Errorf("verdict %+v", b)
	}
	c := v.costs(nil)
	if c == nil || math.Abs(*c.Reads-4) > 1e-9 || math.Abs(*c.Writes-1.5) > 1e-9 || math.Abs(*c.DeviceSeconds-.083) > 1e-9 {
		t.Errorf("costs %+v", c)
	}
	var names []string
	for _, condition := range v.conditions() {
		names = append(names, condition.Name)
	}
	if all := strings.Join(names, ", "); !strings.Contains(all, "read latency, slowest device") || strings.Contains(all, "busiest device") {
		t.Errorf("conditions %s", all)
	}
}
