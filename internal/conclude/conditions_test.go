package conclude

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// TestCostsAddUp: the costs of an order times the orders give the sums of the counters over the window.
func TestCostsAddUp(t *testing.T) {
	s := result.Summary{
		Happened:   result.Happened{Start: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC), Machine: &monitor.Machine{Processors: 4}},
		Conclusion: result.Conclusion{Windows: []measure.Window{{From: 10, To: 70, Counts: measure.Counts{Orders: 6000}, Errors: 3}}},
	}
	watts := 300.0
	s.Power = &result.Power{Active: &watts}
	table := monitor.Table{Columns: []string{
		monitor.ItemColumn(monitor.DiskReads, "sda"), monitor.ItemColumn(monitor.DiskReadTime, "sda"),
		monitor.ItemColumn(monitor.DiskReads, "sdb"), monitor.ItemColumn(monitor.DiskReadTime, "sdb"),
		monitor.ItemColumn(monitor.DiskWrites, "sda"), monitor.ItemColumn(monitor.DiskWriteTime, "sda"),
		monitor.DatabaseLogBytes, monitor.CPUBusy, monitor.ClientOwn, monitor.DatabaseCheckpoints,
	}}
	var reads, writes, took, log float64
	for second := 1; second <= 80; second++ {
		a, b, w := 100+float64(second), 50.0, 300+float64(second%7)
		row := []float64{a, .002, b, .004, w, .001, 1e6, .5, .25, 0}
		if second%10 == 0 {
			b, row[2], row[3] = 0, 0, math.NaN() // a second without reads of sdb has no time that they took
		}
		if second == 30 || second == 75 {
			row[9] = 1
		}
		table.Rows = append(table.Rows, monitor.Row{Time: s.Start.Add(time.Duration(second) * time.Second), Values: row})
		if second > 10 && second <= 70 {
			reads, writes, log = reads+a+b, writes+w, log+1e6
			took += a*.002 + b*.004 + w*.001
		}
	}
	s.Local = true
	c := seen(table, s).costs(s.Power)
	for name, cost := range map[string]struct {
		got  *float64
		want float64 // over the window
	}{
		"reads": {c.Reads, reads}, "writes": {c.Writes, writes}, "device time": {c.DeviceSeconds, took}, "log": {c.LogBytes, log},
		"the server's processors": {c.ServerCPU, (.5*4 - .25) * 60}, "ds2's": {c.ClientCPU, .25 * 60}, "joules": {c.Joules, 300 * 60},
	} {
		if cost.got == nil || math.Abs(*cost.got*6000-cost.want) > 1e-6*cost.want {
			t.Errorf("%s: %v an order, want %v for 6000", name, cost.got, cost.want)
		}
	}
	if c.ReadBytes != nil || c.WrittenBytes != nil {
		t.Errorf("bytes were not measured: %v, %v", c.ReadBytes, c.WrittenBytes)
	}
	conditions := map[string]float64{}
	for _, c := range seen(table, s).conditions() {
		conditions[c.Name] = c.Value
	}
	if math.Abs(conditions["checkpoints"]-1) > 1e-9 || conditions["failed attempts"] != 3 || math.Abs(conditions["reads of the devices"]-reads/60) > 1e-9 {
		t.Errorf("conditions %v", conditions)
	}
	table.Columns = append(table.Columns, monitor.ServerProcessors)
	for i := range table.Rows {
		table.Rows[i].Values = append(table.Rows[i].Values, 1.5)
	}
	if c := seen(table, s).costs(s.Power); math.Abs(*c.ServerCPU*6000-1.5*60) > 1e-9 {
		t.Errorf("the server's own processes take %v s an order, want %v for 6000", *c.ServerCPU, 1.5*60)
	}
	if seen(monitor.Table{}, result.Summary{Conclusion: result.Conclusion{Windows: s.Windows}}).costs(nil) != nil {
		t.Error("a run that nobody observed has costs")
	}
}

// TestDrivesOfARun: what the drives tell of themselves is among the conditions, and heat marks the run.
func TestDrivesOfARun(t *testing.T) {
	two := 2.5
	drives := []monitor.SMART{
		{Drive: "sda", HostBytes: new(1e9), MediaBytes: new(2.5e9), Amplification: &two, After: monitor.SMARTReading{Temperature: new(31.), Wear: new(.02)}},
		{Drive: "nvme0n1", HostBytes: new(3e9), After: monitor.SMARTReading{Temperature: new(70.), Wear: new(.01)}, Throttled: "3 times"},
	}
	s := result.Summary{
		Happened:   result.Happened{SMART: drives},
		Conclusion: result.Conclusion{Windows: []measure.Window{{From: 10, To: 70}}},
	}
	got := map[string]float64{}
	for _, c := range seen(monitor.Table{}, s).conditions() {
		got[c.Name] = c.Value
	}
	for name, want := range map[string]float64{"written to the drives, by SMART": 4000, "written by the drives to their flash": 2500,
		result.WriteAmplification: 2.5, "temperature of the hottest drive": 70, "wear of the most worn drive": 2} {
		if math.Abs(got[name]-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	assert.Equal(t, 1e9, *drives[0].HostBytes, "the sum went into the first drive")
	if faults := Throttled(drives); len(faults) != 1 || faults[0] != "drive nvme0n1 was throttled because of its temperature: 3 times" {
		t.Errorf("faults %q", faults)
	}
}
