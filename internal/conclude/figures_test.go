package conclude

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// seen is the first window of a run, as its counters saw it.
func seen(table sampling.Table, s result.Summary) view {
	return newView(Input{Spec: s.Spec, Happened: s.Happened, Counters: table}, &s.Windows[0])
}

var start = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// ofWindow is a run with one window.
func ofWindow(from, to float64) result.Summary {
	return result.Summary{
		Happened:   result.Happened{Start: start},
		Conclusion: result.Conclusion{Windows: []measure.Window{{From: from, To: to}}},
	}
}

// sampled are samples of seconds of a run.
func sampled(from, to int, values func(second int) []float64, columns ...string) sampling.Table {
	table := sampling.Table{Columns: columns}
	for second := from; second <= to; second++ {
		at := start.Add(time.Duration(second) * time.Second)
		table.Rows = append(table.Rows, sampling.Row{Time: at, Values: values(second)})
	}
	return table
}

// TestBottleneckOfTheWindow has a run that computes before its window and waits for storage in it.
func TestBottleneckOfTheWindow(t *testing.T) {
	table := sampled(
		1,
		20,
		func(second int) []float64 {
			if second > 10 {
				return []float64{.25, 1, 7, 1, 7, .5, .75, 2e9, 2e9, .02}
			}
			return []float64{.99, 8, 0, 8, 0, 0, 0, 2e9, 2e9, .02}
		},
		"cpu.busy_ratio",
		"db.a:5432/ds2.sessions_running",
		"db.a:5432/ds2.sessions_waiting_for_storage",
		"db.b:5432/ds2.sessions_running",
		"db.b:5432/ds2.sessions_waiting_for_storage",
		"disk.sda.busy_ratio",
		"disk.sdb.busy_ratio",
		"db.a:5432/ds2.size_bytes",
		"db.b:5432/ds2.size_bytes",
		"db.a:5432/ds2.round_trip_seconds",
	)
	s := ofWindow(10, 20)
	s.Targets = []string{"a:5432/ds2", "b:5432/ds2"}
	s.Local = true
	f := seen(table, s).collectEvidence()
	b := diagnose.Judge(f)
	require.NotNil(t, b)
	require.Equal(t, diagnose.Storage, b.What)
	for name, v := range map[string][2]float64{
		"processors": {*f.CPUBusy, .25}, "the busier drive": {*f.DiskBusy, .75}, "running": {f.Running, .125},
		"waiting for drives": {f.WaitingForDrives, .875}, "size": {*f.DatabaseSize, 4e9},
	} {
		assert.InDelta(t, v[1], v[0], 1e-9, name)
	}
	assert.Nil(
		t,
		f.RoundTrip,
		"H3: of a server on the same machine, where no network is on the way",
	)
	assert.Equal(
		t,
		result.Evidence{},
		seen(sampling.Table{}, s).collectEvidence(),
		"of a run without samples",
	)
}

// The devices' limit, as it was measured before the run, and without that by queue and latency.
func TestDevices(t *testing.T) {
	table := sampled(
		1,
		20,
		func(second int) []float64 {
			if second > 10 {
				return []float64{3000, 2e-3, 6, 1000, 2e-3, 2, 60}
			}
			return []float64{100, .5e-3, .1, 0, math.NaN(), 0, 10}
		},
		"disk.sda.reads_per_second",
		"disk.sda.read_seconds",
		"disk.sda.queue",
		"disk.sdb.reads_per_second",
		"disk.sdb.read_seconds",
		"disk.sdb.queue",
		"db.log_syncs_per_second",
	)
	s := ofWindow(10, 20)
	s.Targets = []string{"a"}
	s.End = start.Add(20 * time.Second)
	s.Local = true
	s.Device = &result.Device{
		Reads: []result.DevicePoint{
			{Depth: 1, IOPS: 2000, Mean: .5e-3},
			{Depth: 16, IOPS: 8000, Mean: 2e-3},
			{Depth: 256, IOPS: 10000, Mean: 25e-3},
		},
		Log: result.DevicePoint{Depth: 1, IOPS: 500, Mean: 2e-3},
	}
	f := seen(table, s).collectEvidence()
	for name, v := range map[string][2]float64{
		"reads": {*f.DeviceReads, .5}, "of the most": {*f.DeviceMost, .4},
		"log": {*f.DeviceLog, .12}, "queue": {*f.DiskQueue, 6},
		"slowdown": {*f.DiskSlowdown, 4},
	} {
		assert.InDelta(t, v[1], v[0], 1e-9, name)
	}
	assert.Equal(t, "reads 50 % of what the device can do at this latency, "+
		"log writes 12 % of its limit of one write at a time", diagnose.OfDevice(f))
	s.Device = nil
	f = seen(table, s).collectEvidence()
	measured := f.DeviceReads != nil || f.DeviceLog != nil || diagnose.OfDevice(f) != ""
	assert.False(t, measured, "no device was measured: %+v", f)
	b := diagnose.Judge(f)
	assert.Equal(t, diagnose.Storage, b.What)
	assert.Contains(t, b.Why, "a queue of 6.0")

	silent := table // an exporter that answered before the window only
	silent.Rows = slices.Clone(table.Rows)
	for i := range silent.Rows[10:] {
		silent.Rows[10+i].Values = slices.Repeat([]float64{math.NaN()}, len(table.Columns))
	}
	s.Device = &result.Device{Reads: []result.DevicePoint{{Depth: 1, IOPS: 2000, Mean: .5e-3}}}
	assert.Nil(t, seen(silent, s).collectEvidence().DeviceReads, "not 0 %")
	assert.Nil(t, seen(silent, s).costsPerOrder(nil), "not 0 s of the devices")
}

func TestPowerOf(t *testing.T) {
	watts := func(second int) []float64 {
		switch {
		case second > 10:
			return []float64{501.4}
		case second > 0: // ramp
			return []float64{450}
		}
		return []float64{393.1} // idle
	}
	p := seen(sampled(-120, 20, watts, sampling.Power), ofWindow(10, 20)).meanPower()
	assert.InDelta(t, 393.1, *p.Idle, 1e-6)
	assert.InDelta(t, 501.4, *p.Active, 1e-6)
	assert.InDelta(t, 129.584563, *p.PerWatt(64973.7), 1e-6, "of the storage report's median run")
	none := seen(sampled(-120, 20, watts, "cpu.busy_ratio"), ofWindow(10, 20)).meanPower()
	assert.Nil(t, none, "power without any meter")
}

// TestWarnings does not say that the drives see almost no reads where the window's reads came from
// them.
func TestWarnings(t *testing.T) {
	o := []result.Finding{
		result.NewFinding(result.MemoryHoldsIt, "fits"),
		result.NewFinding(result.Distorted, "fsync is off"),
	}
	running := &result.Sessions{Running: 1}
	waiting := &result.Sessions{WaitingForDrives: .96}
	for _, c := range []struct {
		why  string
		f    result.Evidence
		want string
	}{
		{"unknown reads of the drives", result.Evidence{}, "fits, fsync is off"},
		{"hardly a read", result.Evidence{ReadsPerOrder: new(0.01)}, "fits, fsync is off"},
		{
			"reads of other programs",
			result.Evidence{ReadsPerOrder: new(2.7), Sessions: running},
			"fits, fsync is off",
		},
		{
			"reads of other programs, as its own processes tell",
			result.Evidence{
				ReadsPerOrder: new(9.), ReadBytesPerOrder: new(100.), Sessions: waiting,
			},
			"fits, fsync is off",
		},
		{
			"reads of its processes from the drives",
			result.Evidence{ReadBytesPerOrder: new(20000.)},
			"fsync is off",
		},
		{
			"reads from the drives",
			result.Evidence{ReadsPerOrder: new(2.7), Sessions: waiting},
			"fsync is off",
		},
	} {
		v := seen(sampling.Table{}, ofWindow(0, 1))
		v.Cautions = o
		got := strings.Join(result.Sentences(v.shown(c.f), result.Reserves), ", ")
		assert.Equal(t, c.want, got, "%s: warnings", c.why)
	}
}

// TestLargeReads warns of reads of eight pages by the server's own counts, unless the run was to
// scan.
func TestLargeReads(t *testing.T) {
	files := []topology.DatabaseFile{{Name: "f", Database: "host/DS2", Role: topology.Data}}
	for _, c := range []struct {
		why      string
		bytes    float64 // of 100 reads a second
		scrub    []result.Scrub
		warnings int
	}{
		{"pages", 100 * 8192, nil, 0},
		{"eight pages for one", 100 * 65536, nil, 1},
		{"a scan that was asked for", 100 * 65536, []result.Scrub{{}}, 0},
		{"no reads", 0, nil, 0},
	} {
		values := func(int) []float64 { return []float64{min(c.bytes, 100), c.bytes} }
		table := sampled(1, 1, values, "file.f.reads_per_second", "file.f.read_bytes_per_second")
		s := ofWindow(0, 1)
		s.Scrub = c.scrub
		s.Machine = &topology.Machine{Files: files}
		assert.Len(t, seen(table, s).shown(result.Evidence{}), c.warnings, c.why)
	}
}

// TestSlowest: the slowest orders are those that ended in the window, the slowest first.
func TestSlowest(t *testing.T) {
	var in Input
	in.Series.Slow = []measure.SlowOrder{
		{From: time.Second, To: 2 * time.Second, Operation: "login"},
		{
			From: 3 * time.Second, To: 6 * time.Second, Operation: "purchase",
			OperationFrom: 4 * time.Second, OperationTo: 6 * time.Second,
		},
		{From: 61 * time.Second, To: 70 * time.Second, Operation: "login"}, // after the window
	}
	require.Equal(t, []result.SlowOrder{
		{
			From:          3,
			To:            6,
			Operation:     "purchase",
			OperationFrom: 4,
			OperationTo:   6,
		},
		{From: 1, To: 2, Operation: "login"},
	}, newView(in, &measure.Window{From: 0, To: 60}).findSlowest())
	require.Nil(t, newView(in, &measure.Window{From: 10, To: 20}).findSlowest())
}

// TestDisturbances: an event before orders are back from another is part of its disturbance, and
// what comes too late for a figure says so.
func TestDisturbances(t *testing.T) {
	var in Input
	for second := range 60 {
		s := measure.Sample{
			End:    time.Duration(second+1) * time.Second,
			Length: time.Second,
			Phase:  measure.PhaseRun,
		}
		if second < 20 || second >= 27 {
			s.Counts.Orders = 100
		}
		in.Series.Samples = append(in.Series.Samples, s)
	}
	for _, from := range []float64{20, 27, 45, 55} {
		in.Events = append(in.Events, result.Event{From: from})
	}
	all := listDisturbances(in)
	require.Len(t, all, 3)
	require.Equal(t, []int{1, 2}, all[0].Events)
	require.Equal(t, []int{3}, all[1].Events)
	require.InDelta(t, 700, all[0].Lost, 1e-6)
	require.InDelta(t, 7, *all[0].Back, 1e-6)
	require.Zero(t, all[1].Lost)
	require.NotEmpty(t, all[2].Unknown)
	require.Nil(t, disturbanceConditions(all))
	require.Equal(t, []result.Condition{
		{Name: result.LostOrders, Value: all[0].Lost},
		{Name: result.LongestOrder, Unit: "ms"},
		{Name: result.BackAfter, Value: *all[0].Back, Unit: "s"},
	}, disturbanceConditions(all[:2]))
}

// TestFilesStandForDrives concludes a run whose machine was not observed, as on Windows and in
// Azure: what the server counted of its files and waits is all there is. Limits, verdict, costs and
// conditions come from it.
func TestFilesStandForDrives(t *testing.T) {
	table := sampled(1, 60, func(int) []float64 {
		return []float64{400, 50, .016, .030, 7.9, 0, 100, math.NaN(), .004, .4, 1, 6, 1, 5.5, .5}
	},
		"disk.cust_1.reads_per_second", "disk.cust_1.writes_per_second", "disk.cust_1.read_seconds",
		"disk.cust_1.write_seconds", "disk.cust_1.queue",
		"disk.log_1.reads_per_second", "disk.log_1.writes_per_second", "disk.log_1.read_seconds",
		"disk.log_1.write_seconds", "disk.log_1.queue",
		sampling.SessionsRunning, sampling.SessionsWaitingForDrives, sampling.SessionsIdle,
		"db.waits_data_read", "db.waits_log_write")
	s := ofWindow(0, 60)
	s.Targets = []string{"host/DS2"}
	s.Threads = 8
	s.End = start.Add(time.Minute)
	s.Machine = &topology.Machine{Drives: []topology.Drive{
		{Name: "cust_1", File: true, Roles: []topology.Role{topology.Data}},
		{Name: "log_1", File: true, Roles: []topology.Role{topology.Log}},
	}}
	s.Windows[0].OPM = 6000
	s.Windows[0].Counts.Orders = 6000
	s.LimitTexts = []string{
		"device read mean < 20ms",
		"device write max < 20ms",
		"data read mean < 10ms",
		"log write max < 5ms",
		"iops > 300",
	}
	v := seen(table, s)
	all, err := judgeLimits(v.Input, v.window)
	require.NoError(t, err)
	for i, want := range []struct {
		measured float64
		ok       bool
	}{{.016, true}, {.030, false}, {.016, false}, {.004, true}, {450, true}} {
		require.NotNil(t, all[i].Measured, all[i])
		assert.InDelta(t, want.measured, *all[i].Measured, 1e-9, all[i])
		assert.Equal(t, want.ok, all[i].OK, all[i])
	}
	f := v.collectEvidence()
	assert.Equal(t, diagnose.Storage, diagnose.Judge(f).What)
	assert.True(t, diagnose.ReadFromDrives(f))
	assert.InDelta(t, 4, *v.costsPerOrder(nil).Reads, 1e-9)
	conditions := named(v.listConditions())
	assert.Contains(t, conditions, "read latency, slowest device")
	assert.NotContains(t, conditions, "busiest device")
}

// TestFirstWindow: a run that ended before its first window has no result, and none of a later one
// that it reached; one that ended before a later one has that of the first.
func TestFirstWindow(t *testing.T) {
	var in Input
	for second := range 60 {
		in.Series.Samples = append(in.Series.Samples, measure.Sample{
			End:    time.Duration(second+1) * time.Second,
			Length: time.Second,
			Phase:  measure.PhaseRun,
			Counts: measure.Counts{Orders: 10},
		})
	}
	for _, c := range []struct {
		windows []string
		want    int
	}{
		{[]string{"100s-200s", "10s-50s"}, 0}, {[]string{"10s-50s", "100s-200s"}, 1}, {[]string{"10s-50s"}, 1},
	} {
		windows, err := measure.ParseWindows(c.windows)
		require.NoError(t, err)
		came, err := Of(in, windows)
		require.Equal(t, len(c.windows) > 1, err != nil, "%v: %v", c.windows, err)
		require.Len(t, came.Windows, c.want, c.windows)
		require.Equal(t, c.want == 1, came.Figure != nil, c.windows)
	}
}

// TestEachSecond: a sample has the I/Os of its own second, and none where nothing was counted.
func TestEachSecond(t *testing.T) {
	r := &result.Record{}
	r.Start = start
	r.Machine = &topology.Machine{Drives: []topology.Drive{
		{Name: "d", Roles: []topology.Role{topology.Data}},
		{Name: "e", Roles: []topology.Role{topology.Log}},
	}}
	reads := func(second int) []float64 { return []float64{float64(100 * second), 20, 7, 50} }
	r.Host = sampled(1, 3, reads, "disk.d.reads_per_second", "disk.d.writes_per_second",
		"disk.e.reads_per_second", "disk.e.writes_per_second")
	r.Host.Rows = slices.Delete(r.Host.Rows, 1, 2)
	for second := 1; second <= 3; second++ {
		r.Series.Samples = append(r.Series.Samples, measure.Sample{
			End: time.Duration(second) * time.Second, Length: time.Second,
		})
	}
	rates := EachSecond(r)
	assert.Equal(t, []float64{120, 320}, []float64{rates[0], rates[2]})
	assert.True(t, math.IsNaN(rates[1]), "%v", rates)
}

// TestPacedRate: of a run whose rate was found for a target of I/Os, the user set the result.
func TestPacedRate(t *testing.T) {
	s := result.Summary{Conclusion: result.Conclusion{Windows: []measure.Window{{To: 60}}}}
	Find(&s)
	assert.Nil(t, result.FindingOf(s.Findings, result.RateSet))
	s.Pace = &result.Pace{Target: 480}
	Find(&s)
	set := result.FindingOf(s.Findings, result.RateSet)
	require.NotNil(t, set)
	assert.Equal(t, "the user set the rate of 480 I/Os a second", set.Words())
}
