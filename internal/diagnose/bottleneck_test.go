package diagnose

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		"processors that other programs fill, while users think": {
			map[string]float64{"cpu.busy_ratio": .99, "client.busy_ratio": .99, "users.in_operations": .1, "sessions.running": .05, "sessions.idle": .95}, Client, "pause 90 %",
		},
		"processors that other programs fill, while the server is far away": {
			map[string]float64{"cpu.busy_ratio": .99, "client.busy_ratio": .99, "users.in_operations": 1, "network.round_trip_seconds": .05, "users.in_round_trips": .9, "sessions.running": .05, "sessions.idle": .95}, Network, "50.0 ms",
		},
		"E3: full processors that let messages lie for longer, while sessions wait for storage": {
			map[string]float64{"cpu.busy_ratio": .998, "cpu.own_ratio": .2, "users.in_operations": 1, "network.round_trip_seconds": .012, "users.in_round_trips": .9, "sessions.running": .06, "sessions.idle": .4, "sessions.waiting_for_storage": .54}, CPU, "100 % busy",
		},
		"full processors that let messages lie": {
			map[string]float64{"cpu.busy_ratio": .99, "users.in_operations": 1, "network.round_trip_seconds": .004, "users.in_round_trips": .9, "sessions.running": .05, "sessions.idle": .95}, CPU, "99 % busy",
		},
		"a container held to 2 of 64 processors is full at 2": {
			map[string]float64{"cpu.busy_ratio": .05, "server.used_ratio": .97, "server.processors": 2, "server.throttled_ratio": .8, "sessions.running": .3, "sessions.idle": .7}, CPU, "97 % of the 2 processors that it may use and was throttled in 80 %",
		},
		"a container that is throttled though it takes less on average": {
			map[string]float64{"cpu.busy_ratio": .05, "server.used_ratio": .7, "server.processors": 0.5, "server.throttled_ratio": .6, "sessions.running": .3, "sessions.idle": .7}, CPU, "70 % of the 0.5 processors",
		},
		"a container that is nearly full": {
			map[string]float64{"cpu.busy_ratio": .05, "server.used_ratio": .85, "server.processors": 2, "users.in_operations": 1, "sessions.running": .3, "sessions.idle": .7}, CPU, "and sessions wait 70 %",
		},
		"a throttled container that lets messages lie": {
			map[string]float64{"cpu.busy_ratio": .9, "server.used_ratio": .99, "server.processors": 0.1, "users.in_operations": 1, "network.round_trip_seconds": .012, "users.in_round_trips": 1, "sessions.running": .5, "sessions.idle": .5}, CPU, "99 % of the 0.1 processors",
		},
		"ds2 in a container that is throttled": {
			map[string]float64{"cpu.busy_ratio": .1, "client.throttled_ratio": .9, "sessions.running": .3, "sessions.idle": .7}, Client, "throttled in 90 %",
		},
		"whose the processors are": {
			map[string]float64{"cpu.busy_ratio": .95, "cpu.database_ratio": .5, "cpu.own_ratio": .15, "sessions.running": .3, "sessions.idle": .7}, CPU, "50 % with the database, 15 % with ds2 itself, which runs on the same machine, and 30 % with others",
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
			map[string]float64{"cpu.busy_ratio": .3, "disk.busy_ratio": .99, "disk.queue": 12, "disk.slowdown": 3.2}, Storage, "a queue of 12.0 requests, and its reads take 3.2 times as long",
		},
		"a device that is always busy, as flash is long before its limit": {
			map[string]float64{"cpu.busy_ratio": .3, "disk.busy_ratio": 1, "disk.queue": 12, "disk.slowdown": 1.2}, Unclear, "do not tell",
		},
		"a device near its limit, as measured before": {
			map[string]float64{"cpu.busy_ratio": .3, "device.reads_ratio": .93, "device.log_syncs_ratio": .12}, Storage, "reads 93 % of what the device can do at this latency, log writes 12 %",
		},
		"a device full of log writes": {
			map[string]float64{"cpu.busy_ratio": .3, "device.reads_ratio": .03, "device.log_syncs_ratio": .85}, Storage, "log writes 85 %",
		},
		"a device far from its limit, whatever its queue": {
			map[string]float64{"cpu.busy_ratio": .3, "disk.queue": 12, "disk.slowdown": 3.2, "device.reads_ratio": .41}, Unclear, "no processor, link or device",
		},
		"a full device that nobody waits for": {
			map[string]float64{"cpu.busy_ratio": .3, "disk.busy_ratio": .99, "sessions.running": .9, "sessions.idle": .1}, Unclear, "try more users",
		},
		"processors of which nothing is known are not idle": {
			map[string]float64{"sessions.running": .9, "sessions.idle": .1}, Unclear, "in particular: try more users",
		},
		"nothing is near its limit": {
			map[string]float64{"cpu.busy_ratio": .3, "disk.busy_ratio": .2}, Unclear, "do not tell",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(c.figures) // by the names of the record
			require.NoError(t, err)
			var figures Figures
			require.NoError(t, json.Unmarshal(text, &figures))
			b := Judge(figures)
			if b.What != c.want || !strings.Contains(b.Why, c.why) {
				t.Errorf("Judge = %s: %s; want %s with %q", b.What, b.Why, c.want, c.why)
			}
		})
	}
}

// TestJudgeNothing has no verdict on what nobody measured.
func TestJudgeNothing(t *testing.T) {
	assert.Nil(t, Judge(Figures{}), "Judge of nothing")
}

// TestDisturbance warns of other programs only where it is known that there are some.
func TestDisturbance(t *testing.T) {
	for _, c := range []struct {
		f    Figures
		want string
	}{
		{Figures{CPUBusy: new(.95), CPUDatabase: new(.5), CPUOwn: new(.15)}, "other programs take 30 %"},
		{Figures{CPUBusy: new(.95), CPUDatabase: new(.8), CPUOwn: new(.1)}, ""},
		{Figures{CPUBusy: new(.95), CPUOwn: new(.1)}, ""},
	} {
		if got := c.f.Disturbance(); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("Disturbance = %q, want %q", got, c.want)
		}
	}
}

// TestNewSessions has servers that measure how long sessions are at work correct what samples tell.
func TestNewSessions(t *testing.T) {
	for name, c := range map[string]struct {
		counts Sessions
		active *float64
		want   *Sessions
	}{
		"samples alone": {
			Sessions{Idle: 4, Running: 1, WaitingForDrives: 3}, nil, &Sessions{Idle: .5, Running: .125, WaitingForDrives: .375},
		},
		"sessions at work twice as long as samples tell": {
			Sessions{Idle: 6, Running: .5, WaitingForDrives: 1.5}, new(4.), &Sessions{Idle: .5, Running: .125, WaitingForDrives: .375},
		},
		"no sample has seen a session at work": {Sessions{Idle: 8}, new(.1), &Sessions{Idle: 1}},
		"nothing was sampled":                  {Sessions{}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := NewSessions(c.counts, c.active)
			if got == nil || c.want == nil {
				if got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				return
			}
			for _, v := range [][2]float64{{got.Idle, c.want.Idle}, {got.Running, c.want.Running}, {got.WaitingForDrives, c.want.WaitingForDrives}} {
				if math.Abs(v[0]-v[1]) > 1e-9 {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
			}
		})
	}
}
