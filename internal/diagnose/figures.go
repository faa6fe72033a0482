// Package diagnose names what held the orders of a run back, and says what its power comes to, from figures of one
// window. Its functions are pure: where the figures come from, and over which time they were taken, is for others to
// know. A figure that was not measured is nil, and a rule that needs it does not hold.
package diagnose

import (
	"strings"

	"ds2/internal/result"
)

// someReads is what a database reads per order that does not fit into memory, at least: an order looks at a dozen rows
// or more, on as many pages of 8 kB.
const (
	someReads     = 1
	someReadBytes = 8192
)

// ReadFromDrives tells that the reads came from the drives, whatever memory there is. Where it is not known what the
// server read, it is if the drives were read and sessions waited for them, so that it was not for other programs.
func ReadFromDrives(f result.Evidence) bool {
	if f.ReadBytesPerOrder != nil {
		return *f.ReadBytesPerOrder >= someReadBytes
	}
	return atLeast(f.ReadsPerOrder, someReads) && f.Sessions != nil && f.WaitingForDrives >= mainWait
}

// others is the share of the database machine's CPUs that neither the database nor ds2 takes; nil where that is not
// known.
func others(f result.Evidence) *float64 {
	if f.CPUBusy == nil || f.CPUDatabase == nil || f.CPUOwn == nil {
		return nil
	}
	return new(max(*f.CPUBusy-*f.CPUDatabase-*f.CPUOwn, 0))
}

// muchOfOthers is from which share of the CPUs on other programs change what is measured.
const muchOfOthers = 0.10

// Disturbance warns of other programs on the database's machine; empty where they take little.
func Disturbance(f result.Evidence) string {
	if share := others(f); atLeast(share, muchOfOthers) {
		return "other programs take " + percent(*share) +
			" of the CPUs of the database's machine: stop them, and measure again"
	}
	return ""
}

// NewSessions makes shares of numbers of sessions as samples tell them. Samples tell what those at work do; how many
// are at work is measured where the server does that (active), since a session with a message to read counts as idle
// until a CPU is free for it, and a sample takes a CPU. It is nil where there are no sessions.
func NewSessions(counts result.Sessions, active *float64) *result.Sessions {
	states := []*float64{&counts.Running, &counts.WaitingForLock, &counts.WaitingForDrives, &counts.WaitingForLatch,
		&counts.WaitingForClient, &counts.WaitingForRest}
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

// OfDevice says how much of what the devices can do by themselves a run took; empty where that was not measured.
func OfDevice(f result.Evidence) string {
	var parts []string
	if f.DeviceReads != nil {
		parts = append(parts, "reads "+percent(*f.DeviceReads)+" of what the device can do at this latency")
	}
	if f.DeviceLog != nil {
		parts = append(parts, "log writes "+percent(*f.DeviceLog)+" of its limit of one write at a time")
	}
	return strings.Join(parts, ", ")
}
