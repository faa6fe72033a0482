package conclude

import (
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/datatable"
	"ds2/internal/monitor"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/topology"
)

// TestCostsAddUp: the costs per order times the orders give the sums of the counters over the
// window.
func TestCostsAddUp(t *testing.T) {
	s := ofWindow(10, 70)
	s.Machine = &topology.Machine{Processors: 4}
	s.Local = true
	s.Windows[0].Counts.Orders = 6000
	s.Windows[0].Errors = 3
	s.Power = &result.Power{Active: new(300.)}
	var reads, writes, took, log float64
	table := sampled(
		1,
		80,
		func(second int) []float64 {
			a := 100 + float64(second)
			b := 50.0
			w := 300 + float64(second%7)
			slow := .002
			if second%2 == 0 { // many reads at once take longer
				a = a + 400
				slow = .006
			}
			row := []float64{a, slow, b, .004, w, .001, 1e6, .5, .25, 0, 20, .003}
			if second%10 == 0 {
				// a second without reads of sdb has no time that they took
				b = 0
				row[2] = 0
				row[3] = math.NaN()
			}
			if second == 30 || second == 75 {
				row[9] = 1
			}
			if second > 10 && second <= 70 {
				reads = reads + a + b
				writes = writes + w
				log = log + 1e6
				took += a*slow + b*.004 + w*.001 + 20*.003
			}
			return row
		},
		sampling.ItemColumn(sampling.DiskReads, "sda"),
		sampling.ItemColumn(sampling.DiskReadTime, "sda"),
		sampling.ItemColumn(sampling.DiskReads, "sdb"),
		sampling.ItemColumn(sampling.DiskReadTime, "sdb"),
		sampling.ItemColumn(sampling.DiskWrites, "sda"),
		sampling.ItemColumn(sampling.DiskWriteTime, "sda"),
		sampling.DatabaseLogBytes,
		sampling.CPUBusy,
		sampling.ClientOwn,
		sampling.DatabaseCheckpoints,
		sampling.ItemColumn(sampling.DiskFlushes, "sda"),
		sampling.ItemColumn(sampling.DiskFlushTime, "sda"),
	)
	c := seen(table, s).costsPerOrder(s.Power)
	for name, cost := range map[string]struct {
		got  *float64
		want float64 // over the window
	}{
		"reads": {c.Reads, reads}, "writes": {c.Writes, writes}, "device time": {c.DeviceSeconds, took},
		"log": {c.LogBytes, log}, "the server's CPUs": {c.ServerCPU, (.5*4 - .25) * 60},
		"ds2's": {c.ClientCPU, .25 * 60}, "joules": {c.Joules, 300 * 60},
	} {
		require.NotNil(t, cost.got, name)
		assert.InEpsilon(t, cost.want, *cost.got*6000, 1e-6, name)
	}
	assert.Nil(t, c.ReadBytes, "bytes were not measured")
	assert.Nil(t, c.WrittenBytes, "bytes were not measured")
	conditions := named(seen(table, s).listConditions())
	// Of all requests, as the limit device read mean has it: seconds with many count for more.
	d := seen(table, s).drives()
	mean := d.Slowest(sampling.IOKind{Over: sampling.Interval}).Mean
	assert.InDelta(
		t,
		1e3*mean,
		conditions[result.ReadLatency],
		1e-9,
		"latency on the first screen and of the limit",
	)
	assert.InDelta(t, 1, conditions["checkpoints"], 1e-9)
	assert.Equal(t, 3., conditions["failed attempts"])
	assert.InDelta(t, reads/60, conditions["reads of the devices"], 1e-9)
	table.Columns = append(table.Columns, sampling.ServerProcessors)
	for i := range table.Rows {
		table.Rows[i].Values = append(table.Rows[i].Values, 1.5)
	}
	own := *seen(table, s).costsPerOrder(s.Power).ServerCPU
	assert.InDelta(t, 1.5*60, own*6000, 1e-9, "of the server's own processes")
	s.Happened = result.Happened{}
	assert.Nil(t, seen(sampling.Table{}, s).costsPerOrder(nil), "costs of a run without counters")
}

// named are the values of conditions by name.
// TestCacheHits: the share is of all pages of all databases, and not of seconds.
func TestCacheHits(t *testing.T) {
	table := sampled(1, 60, func(second int) []float64 {
		if second%2 == 0 {
			return []float64{.5, 3000, .2, 1000}
		}
		return []float64{.9, 100, math.NaN(), 0}
	}, "db.a.cache_hit_ratio", "db.a.cache_lookups_per_second",
		"db.b.cache_hit_ratio", "db.b.cache_lookups_per_second")
	v := seen(table, ofWindow(0, 60))
	want := (.5*3000 + .9*100 + .2*1000) / 4100
	assert.InDelta(t, 100*want, named(v.listConditions())["cache hits of the database"], 1e-9)
	assert.InDelta(t, want, *v.collectEvidence().CacheHits, 1e-9)
	assert.InDelta(t, (.5*3000+.9*100)/3100, *v.meanOf("db.a.cache_hit_ratio"), 1e-9)
}

func named(all []result.Condition) map[string]float64 {
	values := map[string]float64{}
	for _, c := range all {
		values[c.Name] = c.Value
	}
	return values
}

// TestSurroundings: each row of the table takes a column that sampling names, in a way that there
// is, and what other rooms ask for by name is in it.
func TestSurroundings(t *testing.T) {
	columns, err := os.ReadFile("../sampling/columns.go")
	require.NoError(t, err)
	var names []string
	for _, row := range datatable.Rows(surroundings, 5) {
		names = append(names, row[0])
		assert.Contains(t, string(columns), strconv.Quote(row[1]), row[0])
		assert.Contains(t, takes, row[4], row[0])
		scale, err := strconv.ParseFloat(row[3], 64)
		assert.NoError(t, err, row[0])
		assert.Positive(t, scale, row[0])
	}
	assert.Subset(t, names, []string{
		result.ReadsOfDevices, result.WritesOfDevices, result.ServerProcessors,
	})
}

// TestDrivesOfARun: what the drives tell of themselves is among the conditions, and heat marks the
// run.
func TestDrivesOfARun(t *testing.T) {
	drives := []monitor.SMART{
		{
			Drive: "sda", HostBytes: new(1e9),
			After: monitor.SMARTReading{Temperature: new(31.), Wear: new(.02)},
		},
		{
			Drive:     "nvme0n1",
			HostBytes: new(3e9),
			After:     monitor.SMARTReading{Temperature: new(70.), Wear: new(.01)},
			Throttled: "3 times",
		},
	}
	s := ofWindow(10, 70)
	s.SMART = drives
	got := named(seen(sampling.Table{}, s).listConditions())
	for name, want := range map[string]float64{
		"written to the drives, by SMART": 4000, "temperature of the hottest drive": 70,
		"wear of the most worn drive": 2,
	} {
		assert.InDelta(t, want, got[name], 1e-9, name)
	}
	assert.Equal(t, 1e9, *drives[0].HostBytes, "the sum went into the first drive")
	Find(&s)
	throttled := result.FindingOf(s.Findings, result.DriveThrottled)
	require.NotNil(t, throttled)
	assert.Equal(t, "nvme0n1", throttled.Of)
}
