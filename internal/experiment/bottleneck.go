package experiment

import (
	"fmt"
	"math"

	"ds2/internal/host"
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
	fullProcessors = 0.90 // of all processors' time
	fullLink       = 0.80 // of a link's speed; protocol headers take part of the rest
	fullDevice     = 0.90 // of the time; where no session says what it waits for
	mainWait       = 0.30 // of the sessions' time
)

// bottleneckOf says what held the orders back in a run's first window; nil where nothing was sampled in it.
func bottleneckOf(t host.Table, s result.Summary) *result.Bottleneck {
	if len(s.Windows) == 0 {
		return nil
	}
	f := figuresOf(t, s)
	if len(f) == 0 {
		return nil
	}
	what, why := judge(f)
	return &result.Bottleneck{What: what, Why: why, Figures: f, Warnings: warnings(f, s)}
}

// figuresOf takes the means that the rules rest on from the first window. A figure that was not sampled is absent.
func figuresOf(t host.Table, s result.Summary) map[string]float64 {
	from, to := span(s)
	f := map[string]float64{}
	set := func(name string, v float64) {
		if !math.IsNaN(v) {
			f[name] = v
		}
	}
	mean := func(column string) float64 { return t.Mean(column, from, to) }
	for _, name := range []string{"cpu.busy_ratio", "cpu.iowait_ratio", "client.busy_ratio", "client.own_processors"} {
		set(name, mean(name))
	}
	for group, quantity := range map[string]string{"disk": "busy_ratio", "network": "used_ratio"} {
		for _, column := range t.Items(group, quantity) {
			if v := mean(column); v > f[group+"."+quantity] {
				set(group+"."+quantity, v)
			}
		}
	}
	// Sessions of several databases are added up, and then shared out.
	sessions := map[string]float64{}
	all := 0.0
	for _, state := range []string{"idle", "running", "waiting_for_lock", "waiting_for_storage", "waiting_for_latch", "waiting_for_client", "waiting_for_the_rest"} {
		for _, column := range t.Items("db", "sessions_"+state) {
			if v := mean(column); !math.IsNaN(v) {
				sessions["sessions."+state] += v
				all += v
			}
		}
	}
	for name, v := range sessions {
		f[name] = v / all
	}
	size := 0.0
	for _, column := range t.Items("db", "size_bytes") {
		size += mean(column)
	}
	if size > 0 {
		set("db.size_bytes", size)
	}
	for _, column := range t.Items("db", "cache_hit_ratio") {
		set("db.cache_hit_ratio", mean(column)) // of the last target; they are driven alike
	}
	return f
}

// judge names the bottleneck by the first rule that holds:
//
//  1. cpu: the database machine's processors are 90 % busy or more;
//  2. network: a link is used to 80 % of its speed or more;
//  3. client: the processors of the machine that the orders come from are 90 % busy or more;
//  4. what the sessions spend most of their waiting on, where that is 30 % of their time or more: rows, tables and the
//     server's own latches (locks), reads and writes of data and log (storage), or their client (client), which with no
//     think time means that orders do not come fast enough;
//  5. storage: a device is busy 90 % of the time or more, where the sessions tell nothing;
//  6. else it is unclear.
//
// Full processors come first because sessions that wait for a processor still count as running, and because faster
// storage could not help them.
func judge(f map[string]float64) (what, why string) {
	pct := func(name string) string { return fmt.Sprintf("%.0f %%", 100*f[name]) }
	if f["cpu.busy_ratio"] >= fullProcessors {
		return CPU, "the database machine's processors are " + pct("cpu.busy_ratio") + " busy"
	}
	if f["network.used_ratio"] >= fullLink {
		return Network, "a network link is used to " + pct("network.used_ratio") + " of its speed"
	}
	if f["client.busy_ratio"] >= fullProcessors {
		return Client, "the processors of the machine that the orders come from are " + pct("client.busy_ratio") + " busy"
	}
	_, told := f["sessions.running"]
	waits := []struct {
		what, words string
		share       float64
	}{
		{Storage, "for reads and writes of data and log", f["sessions.waiting_for_storage"]},
		{Locks, "for each other: for rows, tables and the server's latches", f["sessions.waiting_for_lock"] + f["sessions.waiting_for_latch"]},
		{Client, "for the next statement of their users", f["sessions.idle"] + f["sessions.waiting_for_client"]},
	}
	most := waits[0]
	for _, w := range waits {
		if w.share > most.share {
			most = w
		}
	}
	switch {
	case most.share >= mainWait:
		return most.what, fmt.Sprintf("sessions spend %.0f %% of their time waiting %s", 100*most.share, most.words)
	case told:
		return Unclear, fmt.Sprintf("sessions are at work %s of their time and wait for nothing in particular, while processors are %s busy: try more users",
			pct("sessions.running"), pct("cpu.busy_ratio"))
	case f["disk.busy_ratio"] >= fullDevice:
		return Storage, "a device is busy " + pct("disk.busy_ratio") + " of the time"
	default:
		return Unclear, "no processor, link or device is near its limit, and the sessions do not tell what they wait for"
	}
}

// warnings says what makes the run a poor test of storage.
func warnings(f map[string]float64, s result.Summary) []string {
	var w []string
	warn := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	if size := f["db.size_bytes"]; s.Machine != nil && size > 0 && size < float64(s.Machine.MemoryBytes) {
		warn("the database, %s, fits in the server's memory, %s: its reads come from the cache and test no storage; use a larger size",
			bytes(size), bytes(float64(s.Machine.MemoryBytes)))
	}
	for i, server := range s.Servers {
		for _, setting := range []struct{ name, risk string }{
			{"fsync", "the log is never forced to the drives"},
			{"full_page_writes", "a crash can tear pages, and the log is smaller than it has to be"},
			{"synchronous_commit", "orders do not wait for the log"},
		} {
			if server.Settings[setting.name] == "off" {
				warn("%s: %s is off: %s", s.Targets[i], setting.name, setting.risk)
			}
		}
	}
	return w
}

// bytes writes a number of bytes in the unit that suits it.
func bytes(n float64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.0f MB", n/1e6)
	}
	return fmt.Sprintf("%.1f GB", n/1e9)
}
