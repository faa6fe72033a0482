package conclude

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/device"
	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// seen is the first window of a run, as its counters saw it.
func seen(table monitor.Table, s result.Summary) view {
	return newView(Input{Asked: s.Asked, Happened: s.Happened, Counters: table}, &s.Windows[0])
}

// TestBottleneckOfTheWindow has a run that computes before its window and waits for storage in it.
func TestBottleneckOfTheWindow(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	table := monitor.Table{Columns: []string{"cpu.busy_ratio", "db.a:5432/ds2.sessions_running", "db.a:5432/ds2.sessions_waiting_for_storage",
		"db.b:5432/ds2.sessions_running", "db.b:5432/ds2.sessions_waiting_for_storage", "disk.sda.busy_ratio", "disk.sdb.busy_ratio",
		"db.a:5432/ds2.size_bytes", "db.b:5432/ds2.size_bytes"}}
	for second := 1; second <= 20; second++ {
		row := monitor.Row{Time: start.Add(time.Duration(second) * time.Second), Values: []float64{.99, 8, 0, 8, 0, 0, 0, 2e9, 2e9}}
		if second > 10 {
			row.Values = []float64{.25, 1, 7, 1, 7, .5, .75, 2e9, 2e9}
		}
		table.Rows = append(table.Rows, row)
	}
	s := result.Summary{
		Asked:      result.Asked{Targets: []string{"a:5432/ds2", "b:5432/ds2"}},
		Happened:   result.Happened{Start: start},
		Conclusion: result.Conclusion{Windows: []measure.Window{{From: 10, To: 20}}},
	}
	s.Local = true
	f := seen(table, s).figures()
	b := diagnose.Judge(f)
	if b == nil || b.What != diagnose.Storage {
		t.Fatalf("bottleneck = %+v, want storage", b)
	}
	for name, v := range map[string][2]float64{
		"processors": {*f.CPUBusy, .25}, "the busier drive": {*f.DiskBusy, .75}, "running": {f.Running, .125},
		"waiting for drives": {f.WaitingForDrives, .875}, "size": {*f.DatabaseSize, 4e9},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, v[0], v[1])
		}
	}
	if f := seen(monitor.Table{}, s).figures(); f != (diagnose.Figures{}) {
		t.Errorf("figures of a run that nobody sampled = %+v", f)
	}
}

// The devices' limit, as it was measured before the run, and without that by queue and latency.
func TestDevices(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	table := monitor.Table{Columns: []string{"disk.sda.reads_per_second", "disk.sda.read_seconds", "disk.sda.queue",
		"disk.sdb.reads_per_second", "disk.sdb.read_seconds", "disk.sdb.queue", "db.log_syncs_per_second"}}
	for second := 1; second <= 20; second++ {
		row := monitor.Row{Time: start.Add(time.Duration(second) * time.Second), Values: []float64{100, .5e-3, .1, 0, math.NaN(), 0, 10}}
		if second > 10 {
			row.Values = []float64{3000, 2e-3, 6, 1000, 2e-3, 2, 60}
		}
		table.Rows = append(table.Rows, row)
	}
	s := result.Summary{
		Asked:      result.Asked{Targets: []string{"a"}},
		Happened:   result.Happened{Start: start, End: start.Add(20 * time.Second)},
		Conclusion: result.Conclusion{Windows: []measure.Window{{From: 10, To: 20}}},
	}
	measured := &device.Record{
		Reads: []device.Point{{Depth: 1, IOPS: 2000, Mean: .5e-3}, {Depth: 16, IOPS: 8000, Mean: 2e-3}, {Depth: 256, IOPS: 10000, Mean: 25e-3}},
		Log:   device.Point{Depth: 1, IOPS: 500, Mean: 2e-3},
	}
	s.Device, s.Local = measured, true
	f := seen(table, s).figures()
	for name, v := range map[string][2]float64{
		"reads": {*f.DeviceReads, .5}, "log": {*f.DeviceLog, .12}, "queue": {*f.DiskQueue, 6}, "slowdown": {*f.DiskSlowdown, 4},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, v[0], v[1])
		}
	}
	if of := f.OfDevice(); of != "reads 50 % of what the device can do at this latency, log writes 12 % of what it can do one after the other" {
		t.Error(of)
	}
	s.Device = nil
	f = seen(table, s).figures()
	if f.DeviceReads != nil || f.DeviceLog != nil || f.OfDevice() != "" {
		t.Errorf("nobody measured the device: %+v", f)
	}
	if b := diagnose.Judge(f); b.What != diagnose.Storage || !strings.Contains(b.Why, "a queue of 6.0") {
		t.Errorf("%s: %s", b.What, b.Why)
	}
}

func TestPowerOf(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	record := func(columns ...string) (monitor.Table, result.Summary) {
		r := &result.Record{Summary: result.Summary{
			Happened:   result.Happened{Start: start},
			Conclusion: result.Conclusion{Windows: []measure.Window{{From: 10, To: 20}}},
		}}
		r.Host.Columns = columns
		for second := -120; second <= 20; second++ {
			watts := 393.1 // idle
			if second > 0 {
				watts = 450 // ramp
			}
			if second > 10 {
				watts = 501.4
			}
			row := monitor.Row{Time: start.Add(time.Duration(second) * time.Second)}
			for i := range columns {
				row.Values = append(row.Values, watts-100*float64(i))
			}
			r.Host.Rows = append(r.Host.Rows, row)
		}
		return r.Host, r.Summary
	}
	p := seen(record(monitor.Power)).power()
	if math.Abs(*p.Idle-393.1) > 1e-6 || math.Abs(*p.Active-501.4) > 1e-6 || math.Abs(*p.PerWatt(64973.7)-129.584563) > 1e-6 {
		t.Errorf("power of the storage report's median run = %+v: idle %v, active %v, OPM/W %v", p, *p.Idle, *p.Active, *p.PerWatt(64973.7))
	}
	assert.Nil(t, seen(record("cpu.busy_ratio")).power(), "power without any meter")
}

// TestWarnings does not say that the drives see hardly a read where the window's reads came from them.
func TestWarnings(t *testing.T) {
	o := result.Cautions{Reads: []string{"fits"}, Other: []string{"fsync is off"}}
	for _, c := range []struct {
		why  string
		f    diagnose.Figures
		want string
	}{
		{"nobody knows what the drives read", diagnose.Figures{}, "fits, fsync is off"},
		{"hardly a read", diagnose.Figures{ReadsPerOrder: new(0.01)}, "fits, fsync is off"},
		{"reads of other programs", diagnose.Figures{ReadsPerOrder: new(2.7), Sessions: &diagnose.Sessions{Running: 1}}, "fits, fsync is off"},
		{"reads of other programs, as its own processes tell", diagnose.Figures{ReadsPerOrder: new(9.), ReadBytesPerOrder: new(100.), Sessions: &diagnose.Sessions{WaitingForDrives: 1}}, "fits, fsync is off"},
		{"reads of its own processes from the drives", diagnose.Figures{ReadBytesPerOrder: new(20000.)}, "fsync is off"},
		{"reads from the drives", diagnose.Figures{ReadsPerOrder: new(2.7), Sessions: &diagnose.Sessions{WaitingForDrives: 0.96}}, "fsync is off"},
	} {
		assert.Equal(t, c.want, strings.Join(warnings(o, c.f), ", "), "%s: warnings", c.why)
	}
}

// TestLargeReads warns of reads of eight pages by the server's own counts, unless the run was to scan.
func TestLargeReads(t *testing.T) {
	start := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		why      string
		bytes    float64 // of 100 reads a second
		scrub    []result.Reader
		warnings int
	}{
		{"pages", 100 * 8192, nil, 0},
		{"eight pages for one", 100 * 65536, nil, 1},
		{"a scan that was asked for", 100 * 65536, []result.Reader{{}}, 0},
		{"no reads", 0, nil, 0},
	} {
		table := monitor.Table{Columns: []string{"file.f.reads_per_second", "file.f.read_bytes_per_second"},
			Rows: []monitor.Row{{Time: start.Add(time.Second), Values: []float64{min(c.bytes, 100), c.bytes}}}}
		s := result.Summary{Happened: result.Happened{Start: start, Scrub: c.scrub, Machine: &monitor.Machine{Files: []monitor.DatabaseFile{{Name: "f", Database: "host/DS2", Role: monitor.Data}}}}}
		s.Windows = []measure.Window{{To: 1}}
		if all := seen(table, s).largeReads(); len(all) != c.warnings {
			t.Errorf("%s: %q", c.why, all)
		}
	}
}
