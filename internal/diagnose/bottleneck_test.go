package diagnose

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/result"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct{ name, want, why, figures string }{ // by the names of the record
		{
			"J5: a full drive, while users wait to try again", Errors, "90 % of their time until they try again",
			"cpu.busy_ratio=.05 errors.per_order=.02 errors.stalled_ratio=.77 users.held_up_ratio=.9" +
				" users.in_operations=.08 sessions.running=.01 sessions.idle=.99",
		},
		{
			"much fails at once, and CPUs are full of it", Errors, "attempts fail 0.4 times as often as work begins",
			"cpu.busy_ratio=.99 errors.per_order=.4 errors.stalled_ratio=0 users.held_up_ratio=.02",
		},
		{
			"some deadlocks", Storage, "70 %",
			"errors.per_order=.01 errors.stalled_ratio=0 users.held_up_ratio=.01" +
				" sessions.running=.2 sessions.idle=.1 sessions.waiting_for_storage=.7",
		},
		{
			"sessions read and write", Storage, "70 % of their time waiting for reads",
			"cpu.busy_ratio=.39 sessions.running=.2 sessions.idle=.1 sessions.waiting_for_storage=.7",
		},
		{
			"full CPUs hide what sessions wait for", CPU, "95 % busy",
			"cpu.busy_ratio=.95 sessions.running=.3 sessions.waiting_for_storage=.6",
		},
		{
			"a cap of the volume, exceeded almost always", Storage, "the volume's IOPS cap, exceeded in 97 %",
			"disk.volume_iops_exceeded_ratio=.97 disk.machine_iops_exceeded_ratio=.1 sessions.running=.9",
		},
		{
			"a cap that is exceeded at times", CPU, "CPUs",
			"cpu.busy_ratio=.95 disk.volume_throughput_exceeded_ratio=.2 sessions.running=.9",
		},
		{
			"full CPUs and drives that do all they can", StorageAndCPU, "and the drives do 97 % of the most reads",
			"cpu.busy_ratio=.95 device.most_reads_ratio=.97 device.reads_ratio=1 sessions.running=.3" +
				" sessions.waiting_for_storage=.6",
		},
		{
			"full CPUs and a log that does all it can", StorageAndCPU, "and the log does 95 % of the most writes",
			"cpu.busy_ratio=.95 device.most_reads_ratio=.2 device.log_syncs_ratio=.95 sessions.running=1",
		},
		{
			"rows and latches count together", Locks, "40 %",
			"cpu.busy_ratio=.4 sessions.running=.3 sessions.waiting_for_lock=.2 sessions.waiting_for_latch=.2" +
				" sessions.waiting_for_storage=.3",
		},
		{
			"CPUs that other programs fill, while sessions wait for storage", Storage, "94 %",
			"cpu.busy_ratio=.99 client.busy_ratio=.99 users.in_operations=1 sessions.running=.01 sessions.idle=.05" +
				" sessions.waiting_for_storage=.94",
		},
		{
			"CPUs that other programs fill, while sessions wait for each other", Locks, "90 %",
			"cpu.busy_ratio=.99 sessions.running=.1 sessions.waiting_for_lock=.9",
		},
		{
			"CPUs that other programs fill, while users think", Client, "pause 90 %",
			"cpu.busy_ratio=.99 client.busy_ratio=.99 users.in_operations=.1 sessions.running=.05 sessions.idle=.95",
		},
		{
			"H3: full CPUs, on whose run queue a message waits", CPU, "99 % busy",
			"cpu.busy_ratio=.99 client.busy_ratio=.99 users.in_operations=1 network.round_trip_seconds=.05" +
				" users.in_round_trips=.9 sessions.running=.05 sessions.idle=.95",
		},
		{
			"E3: full CPUs that let messages lie for longer, while sessions wait for storage", CPU, "100 % busy",
			"cpu.busy_ratio=.998 cpu.own_ratio=.2 users.in_operations=1 network.round_trip_seconds=.012" +
				" users.in_round_trips=.9 sessions.running=.06 sessions.idle=.4 sessions.waiting_for_storage=.54",
		},
		{
			"full CPUs that let messages lie", CPU, "99 % busy",
			"cpu.busy_ratio=.99 users.in_operations=1 network.round_trip_seconds=.004 users.in_round_trips=.9" +
				" sessions.running=.05 sessions.idle=.95",
		},
		{
			"a container held to 2 of 64 CPUs is full at 2",
			CPU, "97 % of the 2 CPUs that it may use and was throttled in 80 %",
			"cpu.busy_ratio=.05 server.used_ratio=.97 server.processors=2 server.throttled_ratio=.8" +
				" sessions.running=.3 sessions.idle=.7",
		},
		{
			"a container that is throttled though it takes less on average", CPU, "70 % of the 0.5 CPUs",
			"cpu.busy_ratio=.05 server.used_ratio=.7 server.processors=0.5 server.throttled_ratio=.6" +
				" sessions.running=.3 sessions.idle=.7",
		},
		{
			"a container that is nearly full", CPU, "and sessions wait 70 %",
			"cpu.busy_ratio=.05 server.used_ratio=.85 server.processors=2 users.in_operations=1 sessions.running=.3" +
				" sessions.idle=.7",
		},
		{
			"a throttled container that lets messages lie", CPU, "99 % of the 0.1 CPUs",
			"cpu.busy_ratio=.9 server.used_ratio=.99 server.processors=0.1 users.in_operations=1" +
				" network.round_trip_seconds=.012 users.in_round_trips=1 sessions.running=.5 sessions.idle=.5",
		},
		{
			"ds2 in a container that is throttled", Client, "throttled in 90 %",
			"cpu.busy_ratio=.1 client.throttled_ratio=.9 sessions.running=.3 sessions.idle=.7",
		},
		{
			"whose the CPUs are",
			CPU, "50 % by the database, 15 % by ds2 itself, which runs on the same machine, and 30 % by other programs",
			"cpu.busy_ratio=.95 cpu.database_ratio=.5 cpu.own_ratio=.15 sessions.running=.3 sessions.idle=.7",
		},
		{
			"users on their own full machine", Client, "97 % busy",
			"cpu.busy_ratio=.5 client.busy_ratio=.97 sessions.running=.2 sessions.idle=.8",
		},
		{
			"ds2 has used up what it may use of a large machine", Client, "93 % of the CPUs that it may use",
			"cpu.busy_ratio=.5 client.busy_ratio=.2 client.used_ratio=.93 sessions.running=.2 sessions.idle=.8",
		},
		{
			"users that think", Client, "pause 70 %",
			"cpu.busy_ratio=.5 users.in_operations=.3 sessions.running=.2 sessions.idle=.8",
		},
		{
			"users that think, but sessions that read and write for longer", Storage, "45 %",
			"cpu.busy_ratio=.5 users.in_operations=.6 sessions.running=.1 sessions.idle=.45" +
				" sessions.waiting_for_storage=.45",
		},
		{
			"a long way to the server", Network, "5.0 ms to the server and back",
			"cpu.busy_ratio=.2 users.in_operations=1 network.round_trip_seconds=.005 users.in_round_trips=.7" +
				" sessions.running=.2 sessions.idle=.8",
		},
		{
			"a long way to the server, but longer work there", Storage, "55 %",
			"cpu.busy_ratio=.2 users.in_operations=1 network.round_trip_seconds=.005 users.in_round_trips=.3" +
				" sessions.running=.1 sessions.idle=.35 sessions.waiting_for_storage=.55",
		},
		{
			"CPUs that are nearly full, so that sessions seem to wait for users and users for sessions",
			CPU, "88 % busy, 15 % with ds2 itself",
			"cpu.busy_ratio=.88 cpu.own_ratio=.15 users.in_operations=1 network.round_trip_seconds=.001" +
				" users.in_round_trips=1 sessions.running=.1 sessions.idle=.55 sessions.waiting_for_storage=.35",
		},
		{
			"CPUs of the users' machine that are nearly full", Client, "85 % busy",
			"cpu.busy_ratio=.3 client.busy_ratio=.85 users.in_operations=1 sessions.running=.3 sessions.idle=.7",
		},
		{
			"too few users, and storage is what they wait for most", Storage, "35 %",
			"cpu.busy_ratio=.5 users.in_operations=1 network.round_trip_seconds=.0001 users.in_round_trips=.4" +
				" sessions.running=.15 sessions.idle=.5 sessions.waiting_for_storage=.35",
		},
		{
			"too few users", Client, "try more users",
			"cpu.busy_ratio=.5 users.in_operations=1 network.round_trip_seconds=.0001 users.in_round_trips=.4" +
				" sessions.running=.4 sessions.idle=.5 sessions.waiting_for_storage=.1",
		},
		{
			"a full link, which makes users look slow", Network, "90 %",
			"cpu.busy_ratio=.5 network.used_ratio=.9 sessions.running=.2 sessions.idle=.8",
		},
		{
			"a full device whose server tells nothing",
			Storage, "a queue of 12.0 requests, and its reads take 3.2 times as long",
			"cpu.busy_ratio=.3 disk.busy_ratio=.99 disk.queue=12 disk.slowdown=3.2",
		},
		{
			"a device that is always busy, as flash is long before its limit", Unclear, "show no wait",
			"cpu.busy_ratio=.3 disk.busy_ratio=1 disk.queue=12 disk.slowdown=1.2",
		},
		{
			"a device near its limit, as measured before",
			Storage, "reads 93 % of what the device can do at this latency, log writes 12 %",
			"cpu.busy_ratio=.3 device.reads_ratio=.93 device.log_syncs_ratio=.12",
		},
		{
			"a device full of log writes", Storage, "log writes 85 %",
			"cpu.busy_ratio=.3 device.reads_ratio=.03 device.log_syncs_ratio=.85",
		},
		{
			"a device far from its limit, whatever its queue", Unclear, "no CPU, link or device",
			"cpu.busy_ratio=.3 disk.queue=12 disk.slowdown=3.2 device.reads_ratio=.41",
		},
		{
			"a full device without waiting sessions", Unclear, "try more users",
			"cpu.busy_ratio=.3 disk.busy_ratio=.99 sessions.running=.9 sessions.idle=.1",
		},
		{
			"CPUs of which nothing is known are not idle", Unclear, "in particular: try more users",
			"sessions.running=.9 sessions.idle=.1",
		},
		{
			"nothing is near its limit", Unclear, "show no wait",
			"cpu.busy_ratio=.3 disk.busy_ratio=.2",
		},
	} {
		var figures result.Evidence
		text := `{"` + strings.NewReplacer("=.", `":0.`, "=", `":`, " ", `,"`).
			Replace(c.figures) +
			"}"
		require.NoError(t, json.Unmarshal([]byte(text), &figures), c.name)
		b := Judge(figures)
		assert.Equal(t, c.want, b.What, c.name)
		assert.Contains(t, b.Why, c.why, c.name)
	}
	assert.Nil(t, Judge(result.Evidence{}), "of nothing measured")
}

// TestOthers finds other programs only where it is known that there are some.
func TestOthers(t *testing.T) {
	for _, c := range []struct {
		f    result.Evidence
		want float64
	}{
		{result.Evidence{CPUBusy: new(.95), CPUDatabase: new(.5), CPUOwn: new(.15)}, .3},
		{result.Evidence{CPUBusy: new(.95), CPUDatabase: new(.8), CPUOwn: new(.1)}, 0},
		{result.Evidence{CPUBusy: new(.95), CPUOwn: new(.1)}, 0},
	} {
		share := Others(c.f)
		assert.Equal(t, c.want > 0, share != nil)
		assert.InDelta(t, c.want, *cmp.Or(share, new(0.)), 1e-9)
	}
}

// TestNewSessions has servers that measure how long sessions are at work correct what samples tell.
func TestNewSessions(t *testing.T) {
	want := &result.Sessions{Idle: .5, Running: .125, WaitingForDrives: .375}
	for _, c := range []struct {
		why    string
		counts result.Sessions
		active *float64
		want   *result.Sessions
	}{
		{"samples alone", result.Sessions{Idle: 4, Running: 1, WaitingForDrives: 3}, nil, want},
		{
			"sessions at work twice as long as samples tell",
			result.Sessions{Idle: 6, Running: .5, WaitingForDrives: 1.5},
			new(4.), want,
		},
		{
			"no sample has seen a session at work",
			result.Sessions{Idle: 8},
			new(.1),
			&result.Sessions{Idle: 1},
		},
		{"nothing was sampled", result.Sessions{}, nil, nil},
	} {
		assert.Equal(t, c.want, NewSessions(c.counts, c.active), c.why)
	}
}

// TestStoodStill: a window that mostly stood still has no bottleneck but the locks that all waited
// for, however busy its CPUs were.
func TestStoodStill(t *testing.T) {
	f := result.Evidence{CPUBusy: new(.99), Still: new(.9), Errors: new(0.), HeldUp: new(0.)}
	b := Judge(f)
	assert.Equal(t, Unclear, b.What)
	assert.Contains(t, b.Why, "nothing is completed in 90 % of the window")
	f.Sessions = &result.Sessions{Running: .5, WaitingForLock: .5}
	assert.Equal(t, Locks, Judge(f).What)
	f.Still = new(.1)
	assert.Equal(t, CPU, Judge(f).What)
}
