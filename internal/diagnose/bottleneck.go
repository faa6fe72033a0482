// Package diagnose names what held the orders of a run back, and says what its power comes to, from
// figures of one window. Its functions are pure: where the figures come from, and over which time
// they were taken, is for others to know. A figure that was not measured is nil, and a rule that
// needs it does not hold.
package diagnose

import (
	"cmp"
	_ "embed" // sentences.tmpl
	"fmt"
	"strings"
	"text/template"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// What can hold orders back.
const (
	Errors  = "errors"
	Storage = "storage"
	CPU     = "cpu"
	// The drives do all that they can, and the CPUs too: more of one of them changes nothing.
	StorageAndCPU = "storage and cpu"
	Locks         = "locks"
	Client        = "client"
	Network       = "network"
	Unclear       = "unclear"
)

// LimitedBy is what held a run back, in words.
var LimitedBy = map[string]string{
	Errors: "errors", Storage: "storage", CPU: "the CPU", Locks: "locks", Client: "the client",
	Network: "the network", StorageAndCPU: "storage and the CPU",
	Unclear: "nothing that could be named",
}

// The bounds of the rules.
const (
	manyErrors     = 0.10 // of orders, of the users' time or of the window
	fullCPU        = 0.90 // of all CPU time
	busyCPU        = 0.80 // enough to hold up those who answer each other in turns
	mostlyExceeded = 0.50 // of the window
	oftenThrottled = 0.50 // of the periods in which a container's CPU time is counted
	fullLink       = 0.80 // of a link's speed; protocol headers take part of the rest
	mostOfDevice   = 0.90 // of the most that it can do by itself, whatever the latency
	fullDevice     = 0.80 // of what it can do by itself; where no session says what it waits for
	longQueue      = 4    // requests; and where the device was not measured,
	// times as long as in the run's best seconds: more requests only wait for each other
	slowDevice    = 2
	mainWait      = 0.30 // of the sessions' time
	almostAllWait = 0.80 // of the sessions' time, too much to be a delay by full CPUs
	// seconds; a shorter round trip cannot be told from the time in which machines wake up
	longTrip = 0.3e-3
)

// Judge names the bottleneck; nil where nothing was measured.
func Judge(f result.Evidence) *result.Bottleneck {
	if f == (result.Evidence{}) {
		return nil
	}
	c := newSituation(f)
	what, sentence := c.judge()
	why := c.say(sentence)
	switch {
	case what != CPU:
	case atLeast(f.DeviceMost, mostOfDevice):
		what = StorageAndCPU
		why += c.say("and reads")
	case atLeast(f.DeviceLog, mostOfDevice):
		what = StorageAndCPU
		why += c.say("and the log")
	}
	return &result.Bottleneck{What: what, Why: why, Figures: f}
}

//go:embed sentences.tmpl
var sentencesText string

// sentences say why something is the bottleneck. They write shares of 1 in percent.
var sentences = template.Must(template.New("").Funcs(template.FuncMap{
	"percent":      func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) },
	"milliseconds": func(seconds float64) string { return fmt.Sprintf("%.1f", 1000*seconds) },
	"figure":       func(format string, v float64) string { return fmt.Sprintf(format, v) },
	"isSome":       func(v float64) bool { return v > 0 },
}).Parse(sentencesText))

// say fills a sentence with the figures.
func (c situation) say(sentence string) string {
	var text strings.Builder
	if err := sentences.ExecuteTemplate(&text, sentence, c); err != nil {
		panic(err) // a rule holds only where the figures of its sentence are known
	}
	return text.String()
}

// judge asks the rules one after the other; the first that holds names the bottleneck, and the
// sentence that says why.
//
// Errors come before all: what fails tells nothing of how fast the rest is; and so does a window
// that mostly stood still, but for the locks that all may wait for. What takes almost all
// of the sessions' or users' time comes next: then it is other programs that fill CPUs and links,
// if any does. Full CPUs and links come before all other waits because sessions that wait for a CPU
// count as running or idle, because a round trip measured then is the time in the run queue, and
// because faster storage could not help them. Statements and answers under way are held up by CPUs
// or by long round trips; where neither explains them they are only a sign of too few users, and
// storage and locks come before them. A device near its limit counts only where sessions tell
// nothing.
func (c situation) judge() (what, sentence string) {
	switch {
	case atLeast(c.Errors, manyErrors),
		atLeast(c.HeldUp, manyErrors),
		atLeast(c.Stalled, manyErrors):
		return Errors, "errors"
	case atLeast(c.Still, measure.MostStill) && c.Locks >= mainWait:
		return Locks, "locks"
	case atLeast(c.Still, measure.MostStill):
		return Unclear, "still"
	case c.Storage >= almostAllWait:
		return Storage, "storage"
	case c.Locks >= almostAllWait:
		return Locks, "locks"
	case c.Pause >= almostAllWait:
		return Client, "pause"
	case c.Exceeded() != nil:
		return Storage, "caps"
	case atLeast(c.ServerUsed, fullCPU), atLeast(c.ServerThrottled, oftenThrottled):
		return CPU, "container"
	case atLeast(c.CPUBusy, fullCPU):
		return CPU, "CPUs"
	case atLeast(c.NetworkUsed, fullLink):
		return Network, "link"
	case atLeast(c.ClientBusy, fullCPU):
		return Client, "users' machine"
	case atLeast(c.ClientUsed, fullCPU):
		return Client, "ds2"
	case atLeast(c.ClientThrottled, oftenThrottled):
		return Client, "ds2's container"
	case c.mostlyUnderWay() && atLeast(c.CPUBusy, busyCPU):
		return CPU, "CPUs, statements"
	case c.mostlyUnderWay() && atLeast(c.ServerUsed, busyCPU):
		return CPU, "container, statements"
	case c.mostlyUnderWay() && atLeast(c.ClientBusy, busyCPU):
		return Client, "users' machine, statements"
	case c.mostlyUnderWay() && atLeast(c.RoundTrip, longTrip) &&
		atLeast(c.InRoundTrips, c.UnderWay/2):
		return Network, "round trips"
	case c.mostlyUnderWay() && c.largestWait() < mainWait:
		return Client, "few users"
	case c.Storage >= mainWait && c.Storage == c.largestWait():
		return Storage, "storage"
	case c.Locks >= mainWait && c.Locks == c.largestWait():
		return Locks, "locks"
	case c.Pause >= mainWait:
		return Client, "pause"
	case c.Sessions != nil:
		return Unclear, "no wait"
	case atLeast(c.DeviceReads, fullDevice), atLeast(c.DeviceLog, fullDevice):
		return Storage, "device"
	case c.DeviceReads == nil && atLeast(c.DiskQueue, longQueue) &&
		atLeast(c.DiskSlowdown, slowDevice):
		return Storage, "queue"
	}
	return Unclear, "nothing"
}

// limit is one of a volume or of the virtual machine, and the share of the window in which more was
// asked for.
type limit struct {
	Name  string
	Share *float64
}

// Exceeded is the limit that held the drives back for most of the window; nil where none did.
func (c situation) Exceeded() *limit {
	for _, l := range []limit{
		{"the volume's IOPS cap", c.VolumeIOPS},
		{"the volume's throughput cap", c.VolumeThroughput},
		{"the virtual machine's IOPS cap", c.MachineIOPS},
		{"the virtual machine's throughput cap", c.MachineThroughput},
	} {
		if atLeast(l.Share, mostlyExceeded) {
			return &l
		}
	}
	return nil
}

// situation is the figures with what the sessions' time comes to, in shares of it; all 0 where they
// tell nothing.
type situation struct {
	result.Evidence
	Storage, Locks float64
	Pause          float64 // users think, or no order is due
	UnderWay       float64 // statements and answers are on their way, or waiting for a CPU
}

// newSituation takes the sessions' time apart. A session counts as idle, or as waiting for its
// client, while its user thinks and while a statement or an answer is on its way. Users are in an
// operation only in the latter case, so what they spend outside of operations, and not held up by
// failures, is the pause.
func newSituation(f result.Evidence) situation {
	c := situation{Evidence: f}
	if f.Sessions == nil {
		return c
	}
	c.Storage = f.WaitingForDrives
	c.Locks = f.WaitingForLock + f.WaitingForLatch
	statements := f.Idle + f.WaitingForClient
	if f.InOperations != nil {
		c.Pause = min(max(1-*f.InOperations-*cmp.Or(f.HeldUp, new(0.)), 0), statements)
	}
	c.UnderWay = statements - c.Pause
	return c
}

// largestWait is the largest of the waits that need no explanation.
func (c situation) largestWait() float64 { return max(c.Storage, c.Locks, c.Pause) }

// mostlyUnderWay tells that the sessions' largest wait is for statements.
func (c situation) mostlyUnderWay() bool {
	return c.Sessions != nil && c.UnderWay >= max(mainWait, c.largestWait())
}

// atLeast tells that a figure was measured and reaches a bound.
func atLeast(figure *float64, bound float64) bool { return figure != nil && *figure >= bound }

// someReads is what a database reads per order that does not fit into memory, at least: an order
// looks at a dozen rows or more, on as many pages of 8 kB.
const (
	someReads     = 1
	someReadBytes = 8192
)

// ReadFromDrives tells that the reads came from the drives, whatever memory there is. Where it is
// not known what the server read, it is if the drives were read and sessions waited for them, so
// that it was not for other programs.
func ReadFromDrives(f result.Evidence) bool {
	if f.ReadBytesPerOrder != nil {
		return *f.ReadBytesPerOrder >= someReadBytes
	}
	return atLeast(f.ReadsPerOrder, someReads) && f.Sessions != nil &&
		f.WaitingForDrives >= mainWait
}

// Others is the share of the database machine's CPUs that neither the database nor ds2 takes; nil
// where that is not known.
func (c situation) Others() *float64 {
	if c.CPUBusy == nil || c.CPUDatabase == nil || c.CPUOwn == nil {
		return nil
	}
	return new(max(*c.CPUBusy-*c.CPUDatabase-*c.CPUOwn, 0))
}

// muchOfOthers is from which share of the CPUs on other programs change what is measured.
const muchOfOthers = 0.10

// Others is the share of the CPUs of the database's machine that other programs take; nil where it
// is not known or little.
func Others(f result.Evidence) *float64 {
	if share := (situation{Evidence: f}).Others(); atLeast(share, muchOfOthers) {
		return share
	}
	return nil
}

// NewSessions makes shares of numbers of sessions as samples tell them. Samples tell what those at
// work do; how many are at work is measured where the server does that (active), since a session
// with a message to read counts as idle until a CPU is free for it, and a sample takes a CPU. It is
// nil where there are no sessions.
func NewSessions(counts result.Sessions, active *float64) *result.Sessions {
	states := []*float64{
		&counts.Running, &counts.WaitingForLock, &counts.WaitingForDrives, &counts.WaitingForLatch,
		&counts.WaitingForClient, &counts.WaitingForRest,
	}
	all := counts.Idle
	for _, n := range states {
		all += *n
	}
	if !(all > 0) {
		return nil
	}
	idle := counts.Idle / all
	// The proportions of those at work stay as sampled, while how many they are is as measured.
	scale := 1 / all
	if active != nil && *active > 0 && idle < 1 {
		atWork := min(*active/all, 1)
		scale *= atWork / (1 - idle)
		idle = 1 - atWork
	}
	for _, n := range states {
		*n *= scale
	}
	counts.Idle = idle
	return &counts
}

// OfDevice says how much of what the devices can do by themselves a run took; empty where that was
// not measured.
func OfDevice(f result.Evidence) string { return situation{Evidence: f}.say("of device") }
