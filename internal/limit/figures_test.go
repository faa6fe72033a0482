package limit

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

var browses = map[string][]string{
	"browse": {"browse_by_category", "browse_by_actor", "browse_by_title"},
}

// TestOf records 20 seconds with known figures, and judges the last ten: an order a second of 100
// ms, one of ten of them 900 ms.
func TestOf(t *testing.T) {
	meter := measure.NewMeter(
		[]string{"login", "browse_by_actor", "browse_by_title"},
		[]string{"host/db"},
	)
	user := meter.NewRecorder(0)
	var series measure.Series
	for second := 1; second <= 20; second++ {
		var o measure.Order
		took := 100 * time.Millisecond
		if second == 15 {
			took = 900 * time.Millisecond
			o.Fail(measure.Failure{Operation: "login", Class: "deadlock"})
		}
		if second <= 10 {
			took = 5 * time.Second
		}
		o.AddLatency(1, took/2)
		o.AddLatency(2, took/4)
		o.Complete(0, took, took)
		user.Record(&o)
		at := time.Duration(second) * time.Second
		series.Samples = append(series.Samples, meter.Sample(at, []measure.Users{{}}))
		if second%10 == 0 {
			series.Intervals = append(series.Intervals, meter.Interval(at))
		}
	}
	window, err := series.Window("w", measure.Span{From: 10 * time.Second, To: 20 * time.Second})
	require.NoError(t, err)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	nan := math.NaN()
	counters := sampling.Table{
		Columns: []string{
			"disk.sda.reads_per_second", "disk.sda.read_seconds",
			"disk.sdb.reads_per_second", "disk.sdb.read_seconds", "cpu.busy_ratio",
		},
		Rows: []sampling.Row{
			{
				Time:   start.Add(10 * time.Second),
				Values: []float64{1, 9, 1, 9, 1},
			}, // before the window
			{Time: start.Add(11 * time.Second), Values: []float64{100, 0.001, 0, nan, 1}},
			{Time: start.Add(12 * time.Second), Values: []float64{300, 0.005, 10, 0.002, 1}},
			{Time: start.Add(13 * time.Second), Values: []float64{0, nan, 1, 0.012, 1}},
			{Time: start.Add(21 * time.Second), Values: []float64{1, 9, 1, 9, 1}}, // after it
		},
	}
	for second := time.Duration(14); second <= 20; second++ {
		quiet := sampling.Row{
			Time:   start.Add(second * time.Second),
			Values: []float64{0, nan, 0, nan, 1},
		}
		counters.Rows = slices.Insert(counters.Rows, len(counters.Rows)-1, quiet)
	}
	machine := drives([]topology.Role{topology.Data}, []topology.Role{topology.Log})
	source := Source{
		result.Words{Cycle: "transaction", Groups: browses}, series, counters, start, machine,
	}
	figures, err := source.Figures(window)
	require.NoError(t, err)
	for _, c := range []struct {
		why    string
		metric Metric
		want   float64 // NaN: not measured
	}{
		{"the rate", Metric{"opm", ""}, 60},
		{"one error in ten orders", Metric{"errors", ""}, 0.1},
		{"nine in ten take 100 ms", Metric{"transaction", "p90"}, 0.1},
		{"the tenth takes longer", Metric{"transaction", "p95"}, 0.9},
		{"a fine percentile", Metric{"transaction", "p99.9"}, 0.9},
		{"the longest", Metric{"transaction", "max"}, 0.9},
		{"the average", Metric{"transaction", "mean"}, 0.18},
		{"both kinds of browses", Metric{"browse", "mean"}, 0.0675},
		{"the longest browse", Metric{"browse", "max"}, 0.45},
		{"a cycle goes by its workload's name", Metric{"order", "mean"}, nan},
		{"an operation that never ran", Metric{"login", "p95"}, nan},
		{
			"the slower device, by operations: 0.1 s and 1.5 s for 400, 0.02 and 0.012 for 11",
			Metric{"device read", "mean"},
			0.004,
		},
		{"the highest second of any device", Metric{"device read", "max"}, 0.012},
		{"writes were not sampled", Metric{"device write", "mean"}, nan},
		{"of the data's drive alone", Metric{"data read", "mean"}, 0.004},
		{"of the log's drive alone", Metric{"log read", "mean"}, 0.032 / 11},
		{
			"a window shorter than 15 s has its mean for a maximum",
			Metric{"data read", "max"},
			0.004,
		},
		{"the requests of the data's drive", Metric{"iops", ""}, 40},
	} {
		figure, measured := figures(c.metric)
		got := figure.Value
		assert.Equal(t, !math.IsNaN(c.want), measured, c.why)
		assert.True(
			t,
			!measured || math.Abs(got-c.want) <= 0.02*c.want,
			"%s: %v, want %v",
			c.why,
			got,
			c.want,
		)
	}
}

// drives is a machine of two drives, by what they are for.
func drives(sda, sdb []topology.Role) *topology.Machine {
	return &topology.Machine{
		Drives: []topology.Drive{{Name: "sda", Roles: sda}, {Name: "sdb", Roles: sdb}},
	}
}

// TestRoles judges the drives of a database by what it keeps on them: as Jetstress does, by reads
// of the data and writes of the log over means of 15 s. A published run passed with writes of the
// data at 71 ms (mailbox/WORKLOAD.md section 3).
func TestRoles(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	data := []topology.Role{topology.Data}
	log := []topology.Role{topology.Log}
	for _, c := range []struct {
		name                           string
		machine                        *topology.Machine
		dataRead, dataWrite, logWrite  float64 // ms, of each second
		spike                          float64 // ms, of the log's writes in one second of 15
		exchange2007, exchange2007Busy bool    // passes
	}{
		{"slow writes of the data", drives(data, log), 15, 71, 1, 1, true, true},
		{"slow reads", drives(data, log), 21, 1, 1, 1, false, false},
		{"slow writes of the log", drives(data, log), 5, 1, 11, 11, false, false},
		{
			"one slow second is no maximum: it is a mean of 15 s", drives(data, log), 5, 1, 1, 120,
			true, true,
		},
		{"a slow quarter of a minute", drives(data, log), 5, 1, 1, 1100, false, true},
		{
			"unknown roles: nothing is judged, so nothing passes", drives(nil, nil), 5, 1, 1, 1,
			false, false,
		},
		{
			"the log's drive is not known: no verdict on it, no IOPS", drives(data, nil), 5, 1, 1,
			1, false, false,
		},
	} {
		counters := sampling.Table{Columns: []string{
			"disk.sda.reads_per_second", "disk.sda.read_seconds",
			"disk.sda.writes_per_second", "disk.sda.write_seconds",
			"disk.sdb.reads_per_second", "disk.sdb.read_seconds",
			"disk.sdb.writes_per_second", "disk.sdb.write_seconds",
		}}
		for second := 1; second <= 300; second++ {
			logWrite := c.logWrite
			if second == 100 {
				logWrite = c.spike
			}
			values := []float64{
				200,
				c.dataRead / 1e3,
				200,
				c.dataWrite / 1e3,
				0,
				math.NaN(),
				100,
				logWrite / 1e3,
			}
			at := start.Add(time.Duration(second) * time.Second)
			counters.Rows = append(counters.Rows, sampling.Row{Time: at, Values: values})
		}
		names := result.Words{Cycle: "order", Groups: browses}
		window := measure.Window{From: 0, To: 300}
		figures, err := Source{names, measure.Series{}, counters, start, c.machine}.Figures(window)
		require.NoError(t, err)
		for preset, want := range map[string]bool{
			"exchange2007": c.exchange2007, "exchange2007-stress": c.exchange2007Busy,
		} {
			limits, err := ForRun([]string{preset}, time.Hour)
			require.NoError(t, err)
			verdicts := Judge(limits, figures)
			assert.Equal(t, want, verdicts.Passed(), "%s: %v", preset, verdicts)
		}
		iops, measured := figures(Metric{"iops", ""})
		assert.Equal(t, c.machine.Drives[1].Roles != nil, measured)
		assert.True(t, !measured || iops.Value == 400, "%v IOPS", iops)
	}
}
