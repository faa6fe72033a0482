// Package diagnose names what held the orders of a run back, and says what its power comes to, from
// figures of one window. Its functions are pure: where the figures come from, and over which time
// they were taken, is for others to know. A figure that was not measured is nil, and a rule that
// needs it does not hold.
package diagnose

import (
	"cmp"
	"fmt"
	"strings"

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
	what, why := newSituation(f).judge()
	switch {
	case what != CPU:
	case atLeast(f.DeviceMost, mostOfDevice):
		what = StorageAndCPU
		why += ", and the drives do " + percent(*f.DeviceMost) + " of the most reads that they can"
	case atLeast(f.DeviceLog, mostOfDevice):
		what = StorageAndCPU
		why += ", and the log does " + percent(*f.DeviceLog) + " of the most writes that it can"
	}
	return &result.Bottleneck{What: what, Why: why, Figures: f}
}

// judge asks the rules one after the other; the first that holds names the bottleneck.
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
func (c situation) judge() (what, why string) {
	storage := "sessions spend " + percent(
		c.storage,
	) + " of their time waiting for reads and writes of data and log"
	locks := "sessions spend " + percent(c.locks) +
		" of their time waiting for each other: for rows, tables and the server's latches"
	pause := "users pause " + percent(c.pause) + " of their time: they think, or no work is due"
	statements := "sessions wait " + percent(c.underWay) + " of their time for running statements"
	switch {
	case atLeast(c.Errors, manyErrors),
		atLeast(c.HeldUp, manyErrors),
		atLeast(c.Stalled, manyErrors):
		return Errors, c.whyErrors()
	case atLeast(c.Still, measure.MostStill) && c.locks >= mainWait:
		return Locks, locks
	case atLeast(c.Still, measure.MostStill):
		return Unclear, "nothing is completed in " + percent(*c.Still) +
			" of the window, so CPUs and drives do not show what limits it"
	case c.storage >= almostAllWait:
		return Storage, storage
	case c.locks >= almostAllWait:
		return Locks, locks
	case c.pause >= almostAllWait:
		return Client, pause
	case c.exceeded() != "":
		return Storage, c.exceeded()
	case atLeast(c.ServerUsed, fullCPU), atLeast(c.ServerThrottled, oftenThrottled):
		return CPU, c.whyContainer()
	case atLeast(c.CPUBusy, fullCPU):
		return CPU, c.whyCPU()
	case atLeast(c.NetworkUsed, fullLink):
		return Network, "a network link is used to " + percent(*c.NetworkUsed) + " of its speed"
	case atLeast(c.ClientBusy, fullCPU):
		return Client, c.whyUsersMachine()
	case atLeast(c.ClientUsed, fullCPU):
		return Client, "ds2 takes " + percent(*c.ClientUsed) + " of the CPUs that it may use"
	case atLeast(c.ClientThrottled, oftenThrottled):
		return Client, "ds2's container" + throttled(*c.ClientThrottled)
	case c.mostlyUnderWay() && atLeast(c.CPUBusy, busyCPU):
		return CPU, c.whyCPU() + ", and " + statements
	case c.mostlyUnderWay() && atLeast(c.ServerUsed, busyCPU):
		return CPU, c.whyContainer() + ", and " + statements
	case c.mostlyUnderWay() && atLeast(c.ClientBusy, busyCPU):
		return Client, c.whyUsersMachine() + ", and " + statements
	case c.mostlyUnderWay() && atLeast(c.RoundTrip, longTrip) &&
		atLeast(c.InRoundTrips, c.underWay/2):
		return Network, fmt.Sprintf("%s: a message takes %.1f ms to the server and back, "+
			"which is %s of the users' time or more", statements, 1000**c.RoundTrip, percent(*c.InRoundTrips))
	case c.mostlyUnderWay() && c.most() < mainWait:
		return Client, statements + ", and nothing is near its limit: try more users"
	case c.storage >= mainWait && c.storage == c.most():
		return Storage, storage
	case c.locks >= mainWait && c.locks == c.most():
		return Locks, locks
	case c.pause >= mainWait:
		return Client, pause
	case c.Sessions != nil:
		cpus := ""
		if c.CPUBusy != nil {
			cpus = ", while CPUs are " + percent(*c.CPUBusy) + " busy"
		}
		return Unclear, "sessions are at work " + percent(c.Running) + " of their time " +
			"and wait for nothing in particular" + cpus + ": try more users"
	case atLeast(c.DeviceReads, fullDevice), atLeast(c.DeviceLog, fullDevice):
		return Storage, "the device is near its limit: " + OfDevice(c.Evidence)
	case c.DeviceReads == nil && atLeast(c.DiskQueue, longQueue) &&
		atLeast(c.DiskSlowdown, slowDevice):
		return Storage, fmt.Sprintf("a device has a queue of %.1f requests, "+
			"and its reads take %.1f times as long as in the run's best seconds", *c.DiskQueue, *c.DiskSlowdown)
	}
	return Unclear, "no CPU, link or device is near its limit, and the sessions show no wait"
}

// exceeded names the limit of a volume or of the virtual machine that held the drives back for most
// of the window; empty where none did.
func (c situation) exceeded() string {
	for _, limit := range []struct {
		share *float64
		name  string
	}{
		{c.VolumeIOPS, "the volume's IOPS cap"},
		{c.VolumeThroughput, "the volume's throughput cap"},
		{c.MachineIOPS, "the virtual machine's IOPS cap"},
		{c.MachineThroughput, "the virtual machine's throughput cap"},
	} {
		if atLeast(limit.share, mostlyExceeded) {
			return limit.name + ", exceeded in " + percent(*limit.share) + " of the window"
		}
	}
	return ""
}

func (c situation) whyErrors() string {
	text := fmt.Sprintf(
		"users spend %s of their time until they try again what failed",
		percent(*c.HeldUp),
	)
	if c.Errors != nil {
		text = fmt.Sprintf(
			"attempts fail %.2g times as often as work begins, and ",
			*c.Errors,
		) + text
	}
	if *c.Stalled > 0 {
		text += ", and for " + percent(*c.Stalled) + " of the window nothing is completed"
	}
	return text
}

// whyCPU splits the machine's time, as far as it is known whose it is.
func (c situation) whyCPU() string {
	text := "the database machine's CPUs are " + percent(*c.CPUBusy) + " busy"
	switch rest := others(c.Evidence); {
	case rest != nil:
		text += fmt.Sprintf(
			", %s by the database, %s by ds2 itself, which runs on the same machine, "+
				"and %s by other programs",
			percent(*c.CPUDatabase),
			percent(*c.CPUOwn),
			percent(*rest),
		)
	case c.CPUOwn != nil:
		text += ", " + percent(*c.CPUOwn) + " with ds2 itself, which runs on the same machine"
	}
	return text
}

func (c situation) whyContainer() string {
	var texts []string
	if c.ServerUsed != nil && c.ServerProcessors != nil {
		texts = append(texts, fmt.Sprintf(" takes %s of the %.3g CPUs that it may use",
			percent(*c.ServerUsed), *c.ServerProcessors))
	}
	if c.ServerThrottled != nil {
		texts = append(texts, throttled(*c.ServerThrottled))
	}
	return "the database's container" + strings.Join(texts, " and")
}

func throttled(share float64) string {
	return " was throttled in " + percent(
		share,
	) + " of the periods in which its CPU time is counted"
}

func (c situation) whyUsersMachine() string {
	return "the CPUs of the users' machine are " + percent(*c.ClientBusy) + " busy"
}

// situation is the figures with what the sessions' time comes to, in shares of it; all 0 where they
// tell nothing.
type situation struct {
	result.Evidence
	storage, locks float64
	pause          float64 // users think, or no order is due
	underWay       float64 // statements and answers are on their way, or waiting for a CPU
}

func newSituation(f result.Evidence) situation {
	c := situation{Evidence: f}
	if f.Sessions == nil {
		return c
	}
	c.storage = f.WaitingForDrives
	c.locks = f.WaitingForLock + f.WaitingForLatch
	statements := f.Idle + f.WaitingForClient
	if f.InOperations != nil {
		c.pause = min(max(1-*f.InOperations-*cmp.Or(f.HeldUp, new(0.)), 0), statements)
	}
	c.underWay = statements - c.pause
	return c
}

// most is the largest of the waits that need no explanation.
func (c situation) most() float64 { return max(c.storage, c.locks, c.pause) }

// mostlyUnderWay tells that the sessions' largest wait is for statements.
func (c situation) mostlyUnderWay() bool {
	return c.Sessions != nil && c.underWay >= max(mainWait, c.most())
}

// atLeast tells that a figure was measured and reaches a bound.
func atLeast(figure *float64, bound float64) bool { return figure != nil && *figure >= bound }

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

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

// others is the share of the database machine's CPUs that neither the database nor ds2 takes; nil
// where that is not known.
func others(f result.Evidence) *float64 {
	if f.CPUBusy == nil || f.CPUDatabase == nil || f.CPUOwn == nil {
		return nil
	}
	return new(max(*f.CPUBusy-*f.CPUDatabase-*f.CPUOwn, 0))
}

// muchOfOthers is from which share of the CPUs on other programs change what is measured.
const muchOfOthers = 0.10

// Others is the share of the CPUs of the database's machine that other programs take; nil where it
// is not known or little.
func Others(f result.Evidence) *float64 {
	if share := others(f); atLeast(share, muchOfOthers) {
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
func OfDevice(f result.Evidence) string {
	var parts []string
	if f.DeviceReads != nil {
		parts = append(
			parts,
			"reads "+percent(*f.DeviceReads)+" of what the device can do at this latency",
		)
	}
	if f.DeviceLog != nil {
		parts = append(
			parts,
			"log writes "+percent(*f.DeviceLog)+" of its limit of one write at a time",
		)
	}
	return strings.Join(parts, ", ")
}
