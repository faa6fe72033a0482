package experiment

import (
	"math"
	"strings"
	"testing"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
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
		"processors that other programs fill, while sessions wait for storage": {
			map[string]float64{"cpu.busy_ratio": .99, "client.busy_ratio": .99, "users.in_operations": 1, "sessions.running": .01, "sessions.idle": .05, "sessions.waiting_for_storage": .94}, Storage, "94 %",
		},
		"users on a full machine of their own": {
			map[string]float64{"cpu.busy_ratio": .5, "client.busy_ratio": .97, "sessions.running": .2, "sessions.idle": .8}, Client, "97 % busy",
		},
		"ds2 has used up what it may use of a large machine": {
			map[string]float64{"cpu.busy_ratio": .5, "client.busy_ratio": .2, "client.used_ratio": .93, "sessions.running": .2, "sessions.idle": .8}, Client, "93 % of the processors that it may use",
		},
		"users that think": {
			map[string]float64{"cpu.busy_ratio": .5, "users.in_operations": .3, "sessions.running": .2, "sessions.idle": .8}, Client, "pause 70 %",
		},
		"users that think, but sessions that read and write for longer": {
			map[string]float64{"cpu.busy_ratio": .5, "users.in_operations": .6, "sessions.running": .1, "sessions.idle": .45, "sessions.waiting_for_storage": .45}, Storage, "45 %",
		},
		"a long way to the server": {
			map[string]float64{"cpu.busy_ratio": .2, "users.in_operations": 1, "network.round_trip_seconds": .005, "users.in_round_trips": .7, "sessions.running": .2, "sessions.idle": .8}, Network, "5.0 ms to the server and back",
		},
		"a long way to the server, but longer work there": {
			map[string]float64{"cpu.busy_ratio": .2, "users.in_operations": 1, "network.round_trip_seconds": .005, "users.in_round_trips": .3, "sessions.running": .1, "sessions.idle": .35, "sessions.waiting_for_storage": .55}, Storage, "55 %",
		},
		"processors that are nearly full, so that sessions seem to wait for users and users for sessions": {
			map[string]float64{"cpu.busy_ratio": .88, "cpu.own_ratio": .15, "users.in_operations": 1, "network.round_trip_seconds": .001, "users.in_round_trips": 1, "sessions.running": .1, "sessions.idle": .55, "sessions.waiting_for_storage": .35}, CPU, "88 % busy, 15 % with ds2 itself",
		},
		"processors of the users' machine that are nearly full": {
			map[string]float64{"cpu.busy_ratio": .3, "client.busy_ratio": .85, "users.in_operations": 1, "sessions.running": .3, "sessions.idle": .7}, Client, "85 % busy",
		},
		"too few users, and storage is what they wait for most": {
			map[string]float64{"cpu.busy_ratio": .5, "users.in_operations": 1, "network.round_trip_seconds": .0001, "users.in_round_trips": .4, "sessions.running": .15, "sessions.idle": .5, "sessions.waiting_for_storage": .35}, Storage, "35 %",
		},
		"too few users": {
			map[string]float64{"cpu.busy_ratio": .5, "users.in_operations": 1, "network.round_trip_seconds": .0001, "users.in_round_trips": .4, "sessions.running": .4, "sessions.idle": .5, "sessions.waiting_for_storage": .1}, Client, "try more users",
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

// TestSessions has servers that measure how long sessions are at work correct what samples tell.
func TestSessions(t *testing.T) {
	for name, c := range map[string]struct {
		counts map[string]float64
		want   map[string]float64
	}{
		"samples alone": {
			map[string]float64{"idle": 4, "running": 1, "waiting_for_storage": 3},
			map[string]float64{"idle": .5, "running": .125, "waiting_for_storage": .375},
		},
		"sessions at work twice as long as samples tell": {
			map[string]float64{"idle": 6, "running": .5, "waiting_for_storage": 1.5, "active": 4},
			map[string]float64{"idle": .5, "running": .125, "waiting_for_storage": .375},
		},
		"no sample has seen a session at work": {
			map[string]float64{"idle": 8, "active": .1}, map[string]float64{"idle": 1},
		},
		"nothing was sampled": {nil, map[string]float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := sessions(func(quantity string) float64 {
				v, ok := c.counts[strings.TrimPrefix(quantity, "sessions_")]
				if !ok && quantity == "sessions_active" {
					return math.NaN()
				}
				return v
			})
			for state, want := range c.want {
				if math.Abs(got["sessions."+state]-want) > 1e-9 {
					t.Errorf("%s = %v, want %v", state, got["sessions."+state], want)
				}
			}
			if len(c.counts) == 0 && len(got) > 0 {
				t.Errorf("sessions = %v", got)
			}
		})
	}
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
		Start: start, Targets: []string{"a:5432/ds2", "b:5432/ds2"},
		Windows: []measure.Window{{From: 10, To: 20}},
	}
	b := bottleneckOf(table, s, true)
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
	if b := bottleneckOf(monitor.Table{}, s, true); b != nil {
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
			row := monitor.Row{Time: start.Add(time.Duration(second) * time.Second)}
			for i := range columns {
				row.Values = append(row.Values, watts-100*float64(i))
			}
			r.Host.Rows = append(r.Host.Rows, row)
		}
		return r
	}
	p := powerOf(record(monitor.PowerColumn, monitor.RAPLColumn))
	if p.Source != monitor.PowerColumn || math.Abs(*p.Idle-393.1) > 1e-6 || math.Abs(*p.Active-501.4) > 1e-6 || math.Abs(*p.OPMPerWatt-129.584563) > 1e-6 {
		t.Errorf("power of the storage report's median run = %+v: idle %v, active %v, OPM/W %v", p, *p.Idle, *p.Active, *p.OPMPerWatt)
	}
	if p := powerOf(record(monitor.RAPLColumn)); p.Source != monitor.RAPLColumn {
		t.Errorf("power without a meter is from %s", p.Source)
	}
	if p := powerOf(record("cpu.busy_ratio")); p != nil {
		t.Errorf("power without any meter = %+v", p)
	}
}
