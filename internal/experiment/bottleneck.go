package experiment

import (
	"fmt"
	"maps"
	"math"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// What can hold orders back.
const (
	Storage = "storage"
	CPU     = "cpu"
	Locks   = "locks"
	Client  = "client"
	Network = "network"
	Unclear = "unclear"
)

// The bounds of the rules in judge.
const (
	fullProcessors = 0.90   // of all processors' time
	busyProcessors = 0.80   // enough to hold up those who answer each other in turns
	fullLink       = 0.80   // of a link's speed; protocol headers take part of the rest
	fullDevice     = 0.90   // of the time; where no session says what it waits for
	mainWait       = 0.30   // of the sessions' time
	almostAllWait  = 0.80   // of the sessions' time, too much to be a delay by full processors
	longTrip       = 0.3e-3 // seconds; a shorter round trip cannot be told from the time in which machines wake up
)

// bottleneckOf says what held the orders back in a run's first window; nil where nothing was sampled in it. local says
// that ds2 ran on the databases' machine.
func bottleneckOf(t monitor.Table, s result.Summary, local bool) *result.Bottleneck {
	if len(s.Windows) == 0 {
		return nil
	}
	f := figuresOf(t, s)
	if len(f) == 0 {
		return nil
	}
	if own, ok := f["client.own_processors"]; ok && local && s.Machine != nil {
		f["cpu.own_ratio"] = own / float64(s.Machine.Processors)
	}
	addUsers(f, s)
	what, why := judge(f)
	return &result.Bottleneck{What: what, Why: why, Figures: f}
}

// figuresOf takes the means that the rules rest on from the first window. A figure that was not sampled is absent.
func figuresOf(t monitor.Table, s result.Summary) map[string]float64 {
	from, to := span(s)
	f := map[string]float64{}
	set := func(name string, v float64) {
		if !math.IsNaN(v) {
			f[name] = v
		}
	}
	mean := func(column string) float64 { return t.Mean(column, from, to) }
	for _, name := range []string{"cpu.busy_ratio", "cpu.iowait_ratio", "client.busy_ratio", "client.own_processors", "client.used_ratio"} {
		set(name, mean(name))
	}
	for group, quantity := range map[string]string{"disk": "busy_ratio", "network": "used_ratio"} {
		for _, column := range t.Items(group, quantity) {
			if v := mean(column); v > f[group+"."+quantity] {
				set(group+"."+quantity, v)
			}
		}
	}
	sum := func(quantity string) float64 {
		total := 0.0
		for _, column := range t.Items("db", quantity) {
			total += mean(column)
		}
		return total
	}
	maps.Copy(f, sessions(sum))
	if size := sum("size_bytes"); size > 0 {
		set("db.size_bytes", size)
	}
	for _, column := range t.Items("db", "cache_hit_ratio") {
		set("db.cache_hit_ratio", mean(column)) // of the last target; they are driven alike
	}
	for _, column := range t.Items("db", "round_trip_seconds") {
		// The lower quartile: at times a busy machine lets a message lie.
		set("network.round_trip_seconds", t.Quantile(column, 0.25, from, to))
	}
	return f
}

// sessionStates are what sessions can be doing, as the databases' counters name it.
var sessionStates = []string{"idle", "running", "waiting_for_lock", "waiting_for_storage", "waiting_for_latch", "waiting_for_client", "waiting_for_the_rest"}

// sessions tells how the sessions' time is shared out, from their numbers in all databases together. Samples tell what
// those at work do; how many are at work is measured where the server does that, since a session with a message to
// read counts as idle until a processor is free for it, and a sample takes a processor.
func sessions(sum func(quantity string) float64) map[string]float64 {
	counts, all := map[string]float64{}, 0.0
	for _, state := range sessionStates {
		if v := sum("sessions_" + state); !math.IsNaN(v) {
			counts[state] = v
			all += v
		}
	}
	f := map[string]float64{}
	if all == 0 {
		return f
	}
	for state, n := range counts {
		f["sessions."+state] = n / all
	}
	idle := f["sessions.idle"]
	if active := min(sum("sessions_active")/all, 1); active > 0 && idle < 1 {
		for state := range counts {
			f["sessions."+state] *= active / (1 - idle)
		}
		f["sessions.idle"] = 1 - active
	}
	return f
}

// addUsers adds where the users' own time went in the first window: in operations, and of that in messages on their way,
// one to the server and one back for each operation, though some take more.
func addUsers(f map[string]float64, s result.Summary) {
	w := s.Windows[0]
	count, seconds := 0.0, 0.0
	for operation, l := range w.Latency {
		if operation != measure.WholeOrder {
			count += float64(l.Count)
			seconds += float64(l.Count) * l.Mean / 1000
		}
	}
	all := (w.LatencyTo - w.LatencyFrom) * float64(s.Threads*len(s.Targets))
	if all == 0 {
		return
	}
	f["users.in_operations"] = seconds / all
	if trip, ok := f["network.round_trip_seconds"]; ok {
		f["users.in_round_trips"] = min(trip*count/all, 1)
	}
}

// judge names the bottleneck by the first rule that holds:
//
//  1. storage or locks: sessions spend 80 % of their time or more waiting for it, so that it is other programs that fill
//     processors and links, if any does;
//  2. cpu: the database machine's processors are 90 % busy or more;
//  3. network: a link is used to 80 % of its speed or more;
//  4. client: the processors of the machine that the orders come from are 90 % busy or more, or ds2 takes as much of
//     those that it may use;
//  5. what the sessions spend most of their time waiting for, where that is 30 % or more: reads and writes of data and log
//     (storage), rows, tables and the server's own latches (locks), users who pause (client), or statements and answers
//     that are under way. The last are held up by processors (cpu) where those are 80 % busy or more, and by the network
//     where round trips are long and half of the waiting or more. Else they are only a sign of too few users, and storage
//     and locks come before them;
//  6. storage: a device is busy 90 % of the time or more, where the sessions tell nothing;
//  7. else it is unclear.
//
// Full processors come before the other waits because sessions that wait for a processor count as running or idle, and
// because faster storage could not help them.
func judge(f map[string]float64) (what, why string) {
	pct := func(name string) string { return fmt.Sprintf("%.0f %%", 100*f[name]) }
	if max(f["sessions.waiting_for_storage"], waitingForEachOther(f)) >= almostAllWait {
		return judgeWaits(f)
	}
	if f["cpu.busy_ratio"] >= fullProcessors {
		return CPU, "the database machine's processors are " + pct("cpu.busy_ratio") + " busy" + ownShare(f)
	}
	if f["network.used_ratio"] >= fullLink {
		return Network, "a network link is used to " + pct("network.used_ratio") + " of its speed"
	}
	if f["client.busy_ratio"] >= fullProcessors {
		return Client, "the processors of the machine that the orders come from are " + pct("client.busy_ratio") + " busy"
	}
	if f["client.used_ratio"] >= fullProcessors {
		return Client, "ds2 takes " + pct("client.used_ratio") + " of the processors that it may use"
	}
	if _, told := f["sessions.running"]; told {
		return judgeWaits(f)
	}
	if f["disk.busy_ratio"] >= fullDevice {
		return Storage, "a device is busy " + pct("disk.busy_ratio") + " of the time"
	}
	return Unclear, "no processor, link or device is near its limit, and the sessions do not tell what they wait for"
}

// ownShare says how much of the database machine's processors ds2 takes, where it runs on that machine.
func ownShare(f map[string]float64) string {
	own, ok := f["cpu.own_ratio"]
	if !ok {
		return ""
	}
	return fmt.Sprintf(", %.0f %% with ds2 itself, which runs on the same machine", 100*own)
}

// waitingForEachOther is the share of their time that sessions wait for rows, tables and the server's own latches.
func waitingForEachOther(f map[string]float64) float64 {
	return f["sessions.waiting_for_lock"] + f["sessions.waiting_for_latch"]
}

// judgeWaits names the bottleneck by what sessions wait for.
func judgeWaits(f map[string]float64) (what, why string) {
	pct := func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
	statements := f["sessions.idle"] + f["sessions.waiting_for_client"]
	pause := 0.0
	if in, ok := f["users.in_operations"]; ok {
		pause = min(max(1-in, 0), statements)
	}
	most := struct {
		what, why string
		share     float64
	}{Storage, "sessions spend %s of their time waiting for reads and writes of data and log", f["sessions.waiting_for_storage"]}
	if locks := waitingForEachOther(f); locks > most.share {
		most.what, most.why, most.share = Locks, "sessions spend %s of their time waiting for each other: for rows, tables and the server's latches", locks
	}
	if pause > most.share {
		most.what, most.why, most.share = Client, "users pause %s of their time: they think, or no order is due", pause
	}
	if underWay := statements - pause; underWay >= max(mainWait, most.share) {
		switch trip := f["network.round_trip_seconds"]; {
		case f["cpu.busy_ratio"] >= busyProcessors:
			return CPU, fmt.Sprintf("the database machine's processors are %s busy%s, and sessions wait %s of their time for statements that are under way",
				pct(f["cpu.busy_ratio"]), ownShare(f), pct(underWay))
		case f["client.busy_ratio"] >= busyProcessors:
			return Client, fmt.Sprintf("the processors of the machine that the orders come from are %s busy, and sessions wait %s of their time for statements that are under way",
				pct(f["client.busy_ratio"]), pct(underWay))
		case trip >= longTrip && f["users.in_round_trips"] >= underWay/2:
			return Network, fmt.Sprintf("sessions wait %s of their time for statements that are under way: a message takes %.1f ms to the server and back, which is %s of the users' time or more",
				pct(underWay), 1000*trip, pct(f["users.in_round_trips"]))
		case most.share < mainWait:
			return Client, fmt.Sprintf("sessions wait %s of their time for statements that are under way, and nothing is near its limit: try more users", pct(underWay))
		}
	}
	if most.share >= mainWait {
		return most.what, fmt.Sprintf(most.why, pct(most.share))
	}
	return Unclear, fmt.Sprintf("sessions are at work %s of their time and wait for nothing in particular, while processors are %s busy: try more users",
		pct(f["sessions.running"]), pct(f["cpu.busy_ratio"]))
}
