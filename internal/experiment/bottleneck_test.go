package experiment

import (
	"math"
	"strings"
	"testing"
	"time"

	"ds2/internal/host"
	"ds2/internal/measure"
	"ds2/internal/result"
)

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		figures map[string]float64
		want    string
		why     string
	}{
		"sessions read and write": {
			map[string]float64{"cpu.busy_ratio": .39, "sessions.running": .2, "sessions.idle": .1, "sessions.waiting_for_storage": .7}, Storage, "70 % of their time waiting for reads",
		},
		"full processors hide what sessions wait for": {
			map[string]float64{"cpu.busy_ratio": .95, "sessions.running": .3, "sessions.waiting_for_storage": .6}, CPU, "95 % busy",
		},
		"rows and latches count together": {
			map[string]float64{"cpu.busy_ratio": .4, "sessions.running": .3, "sessions.waiting_for_lock": .2, "sessions.waiting_for_latch": .2, "sessions.waiting_for_storage": .3}, Locks, "40 %",
		},
		"users on a full machine of their own": {
			map[string]float64{"cpu.busy_ratio": .5, "client.busy_ratio": .97, "sessions.running": .2, "sessions.idle": .8}, Client, "97 % busy",
		},
		"users that are slow for another reason": {
			map[string]float64{"cpu.busy_ratio": .5, "client.busy_ratio": .2, "sessions.running": .2, "sessions.idle": .8}, Client, "next statement",
		},
		"a full link, which makes users look slow": {
			map[string]float64{"cpu.busy_ratio": .5, "network.used_ratio": .9, "sessions.running": .2, "sessions.idle": .8}, Network, "90 %",
		},
		"a full device whose server tells nothing": {
			map[string]float64{"cpu.busy_ratio": .3, "disk.busy_ratio": .99}, Storage, "busy 99 %",
		},
		"a full device that nobody waits for": {
			map[string]float64{"cpu.busy_ratio": .3, "disk.busy_ratio": .99, "sessions.running": .9, "sessions.idle": .1}, Unclear, "try more users",
		},
		"nothing is near its limit": {
			map[string]float64{"cpu.busy_ratio": .3, "disk.busy_ratio": .2}, Unclear, "do not tell",
		},
	} {
		t.Run(name, func(t *testing.T) {
			what, why := judge(c.figures)
			if what != c.want || !strings.Contains(why, c.why) {
				t.Errorf("judge = %s: %s; want %s with %q", what, why, c.want, c.why)
			}
		})
	}
}

// TestBottleneckOfTheWindow has a run that computes before its window and waits for storage in it.
func TestBottleneckOfTheWindow(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	table := host.Table{Columns: []string{"cpu.busy_ratio", "db.a:5432/ds2.sessions_running", "db.a:5432/ds2.sessions_waiting_for_storage",
		"db.b:5432/ds2.sessions_running", "db.b:5432/ds2.sessions_waiting_for_storage", "disk.sda.busy_ratio", "disk.sdb.busy_ratio",
		"db.a:5432/ds2.size_bytes", "db.b:5432/ds2.size_bytes"}}
	for second := 1; second <= 20; second++ {
		row := host.Row{Time: start.Add(time.Duration(second) * time.Second), Values: []float64{.99, 8, 0, 8, 0, 0, 0, 2e9, 2e9}}
		if second > 10 {
			row.Values = []float64{.25, 1, 7, 1, 7, .5, .75, 2e9, 2e9}
		}
		table.Rows = append(table.Rows, row)
	}
	s := result.Summary{
		Start: start, Targets: []string{"a:5432/ds2", "b:5432/ds2"},
		Windows: []measure.Window{{From: 10, To: 20}},
		Machine: &host.Machine{MemoryBytes: 8e9},
		Servers: []host.Server{{Settings: map[string]string{"fsync": "on"}}, {Settings: map[string]string{"fsync": "off"}}},
	}
	b := bottleneckOf(table, s)
	if b == nil || b.What != Storage {
		t.Fatalf("bottleneck = %+v, want storage", b)
	}
	for name, want := range map[string]float64{
		"cpu.busy_ratio": .25, "disk.busy_ratio": .75, "sessions.running": .125, "sessions.waiting_for_storage": .875, "db.size_bytes": 4e9,
	} {
		if got := b.Figures[name]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if w := strings.Join(b.Warnings, "\n"); !strings.Contains(w, "4.0 GB, fits in the server's memory, 8.0 GB") || !strings.Contains(w, "b:5432/ds2: fsync is off") {
		t.Errorf("warnings = %q", b.Warnings)
	}
	s.Machine.MemoryBytes = 3e9
	s.Servers[1].Settings["fsync"] = "on"
	if b := bottleneckOf(table, s); len(b.Warnings) > 0 {
		t.Errorf("warnings of a database larger than memory, with fsync: %q", b.Warnings)
	}
	if b := bottleneckOf(host.Table{}, s); b != nil {
		t.Errorf("bottleneck of a run that nobody sampled = %+v", b)
	}
}

func TestPowerOf(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	record := func(columns ...string) *result.Record {
		opm := 64973.7
		r := &result.Record{Summary: result.Summary{Start: start, OPM: &opm, Windows: []measure.Window{{From: 10, To: 20}}}}
		r.Host.Columns = columns
		for second := -120; second <= 20; second++ {
			watts := 393.1 // idle
			if second > 0 {
				watts = 450 // ramp
			}
			if second > 10 {
				watts = 501.4
			}
			row := host.Row{Time: start.Add(time.Duration(second) * time.Second)}
			for i := range columns {
				row.Values = append(row.Values, watts-100*float64(i))
			}
			r.Host.Rows = append(r.Host.Rows, row)
		}
		return r
	}
	p := powerOf(record(host.PowerColumn, host.RAPLColumn))
	if p.Source != host.PowerColumn || math.Abs(*p.Idle-393.1) > 1e-6 || math.Abs(*p.Active-501.4) > 1e-6 || math.Abs(*p.OPMPerWatt-129.584563) > 1e-6 {
		t.Errorf("power of the storage report's median run = %+v: idle %v, active %v, OPM/W %v", p, *p.Idle, *p.Active, *p.OPMPerWatt)
	}
	if p := powerOf(record(host.RAPLColumn)); p.Source != host.RAPLColumn {
		t.Errorf("power without a meter is from %s", p.Source)
	}
	if p := powerOf(record("cpu.busy_ratio")); p != nil {
		t.Errorf("power without any meter = %+v", p)
	}
}
