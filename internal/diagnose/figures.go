// Package diagnose names what held the orders of a run back, and says what its power comes to, from figures of one
// window. Its functions are pure: where the figures come from, and over which time they were taken, is for others to
// know. A figure that was not measured is nil, and a rule that needs it does not hold.
package diagnose

import "strings"

// Figures are what the rules rest on: means over a window. Shares are of 1.
type Figures struct {
	CPUBusy   *float64 `json:"cpu.busy_ratio,omitempty"` // of the database machine's CPUs
	CPUIOWait *float64 `json:"cpu.iowait_ratio,omitempty"`
	// The parts of CPUBusy that the database's processes and ds2 take, where they are on that machine.
	CPUDatabase *float64 `json:"cpu.database_ratio,omitempty"`
	CPUOwn      *float64 `json:"cpu.own_ratio,omitempty"`

	// The CPUs that the database server's container may use, where that is less than all, what it takes of these, and
	// in how many of the periods in which their time is counted it was throttled.
	ServerProcessors *float64 `json:"server.processors,omitempty"`
	ServerUsed       *float64 `json:"server.used_ratio,omitempty"`
	ServerThrottled  *float64 `json:"server.throttled_ratio,omitempty"`

	ClientBusy      *float64 `json:"client.busy_ratio,omitempty"` // of the CPUs of the machine that ds2 runs on
	ClientOwn       *float64 `json:"client.own_processors,omitempty"`
	ClientUsed      *float64 `json:"client.used_ratio,omitempty"` // what ds2 takes of the CPUs that it may use
	ClientThrottled *float64 `json:"client.throttled_ratio,omitempty"`

	DiskBusy      *float64 `json:"disk.busy_ratio,omitempty"`      // of the busiest device
	ReadsPerOrder *float64 `json:"disk.reads_per_order,omitempty"` // of all devices
	// Of the database server's processes, from drives.
	ReadBytesPerOrder *float64 `json:"server.read_bytes_per_order,omitempty"`
	NetworkUsed       *float64 `json:"network.used_ratio,omitempty"`         // of the busiest link's speed
	RoundTrip         *float64 `json:"network.round_trip_seconds,omitempty"` // of a message without work
	DiskQueue         *float64 `json:"disk.queue,omitempty"`                 // of the device with the longest
	// Of that device's reads: their time over that of the run's best seconds.
	DiskSlowdown *float64 `json:"disk.slowdown,omitempty"`
	// Of what ds2 device found the devices to do: of reads at this latency, and of log writes.
	DeviceReads *float64 `json:"device.reads_ratio,omitempty"`
	DeviceLog   *float64 `json:"device.log_syncs_ratio,omitempty"`

	*Sessions // nil: the server does not tell what they do

	// Failed attempts for each order begun; of the window, while no order was completed and attempts failed; of the
	// users' time, until they try or connect again.
	Errors  *float64 `json:"errors.per_order,omitempty"`
	Stalled *float64 `json:"errors.stalled_ratio,omitempty"`
	HeldUp  *float64 `json:"users.held_up_ratio,omitempty"`

	InOperations *float64 `json:"users.in_operations,omitempty"`  // of the users' time
	InRoundTrips *float64 `json:"users.in_round_trips,omitempty"` // of the users' time: messages on their way

	DatabaseSize *float64 `json:"db.size_bytes,omitempty"`
	CacheHits    *float64 `json:"db.cache_hit_ratio,omitempty"`
}

// someReads is what a database reads per order that does not fit into memory, at least: an order looks at a dozen rows
// or more, on as many pages of 8 kB.
const (
	someReads     = 1
	someReadBytes = 8192
)

// ReadFromDrives tells that the reads came from the drives, whatever memory there is. Where it is not known what the
// server read, it is if the drives were read and sessions waited for them, so that it was not for other programs.
func (f Figures) ReadFromDrives() bool {
	if f.ReadBytesPerOrder != nil {
		return *f.ReadBytesPerOrder >= someReadBytes
	}
	return atLeast(f.ReadsPerOrder, someReads) && f.Sessions != nil && f.WaitingForDrives >= mainWait
}

// others is the share of the database machine's CPUs that neither the database nor ds2 takes; nil where that is not
// known.
func (f Figures) others() *float64 {
	if f.CPUBusy == nil || f.CPUDatabase == nil || f.CPUOwn == nil {
		return nil
	}
	return new(max(*f.CPUBusy-*f.CPUDatabase-*f.CPUOwn, 0))
}

// muchOfOthers is from which share of the CPUs on other programs change what is measured.
const muchOfOthers = 0.10

// Disturbance warns of other programs on the database's machine; empty where they take little.
func (f Figures) Disturbance() string {
	if others := f.others(); atLeast(others, muchOfOthers) {
		return "other programs take " + percent(*others) +
			" of the CPUs of the database's machine: stop them, and measure again"
	}
	return ""
}

// Sessions is how the time of the database's sessions is shared out.
type Sessions struct {
	Idle             float64 `json:"sessions.idle"`
	Running          float64 `json:"sessions.running"`
	WaitingForLock   float64 `json:"sessions.waiting_for_lock"`
	WaitingForDrives float64 `json:"sessions.waiting_for_storage"`
	WaitingForLatch  float64 `json:"sessions.waiting_for_latch"`
	WaitingForClient float64 `json:"sessions.waiting_for_client"`
	WaitingForRest   float64 `json:"sessions.waiting_for_the_rest"`
}

// NewSessions makes shares of numbers of sessions as samples tell them. Samples tell what those at work do; how many
// are at work is measured where the server does that (active), since a session with a message to read counts as idle
// until a CPU is free for it, and a sample takes a CPU. It is nil where there are no sessions.
func NewSessions(counts Sessions, active *float64) *Sessions {
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

// waitingForEachOther is the share of their time that sessions wait for rows, tables and the server's own latches.
func (s Sessions) waitingForEachOther() float64 { return s.WaitingForLock + s.WaitingForLatch }

// Power is what a run took, in watts. A mean is absent where the meter gave nothing for its time.
type Power struct {
	// Idle is the mean of the idle time before the run, Active that of the first window (WORKLOAD.md section 6).
	Idle   *float64 `json:"idle_w,omitempty"`
	Active *float64 `json:"active_w,omitempty"`
}

// PerWatt is a figure by active watts; nil where they are not known.
func (p *Power) PerWatt(figure float64) *float64 {
	if p == nil || p.Active == nil || *p.Active <= 0 {
		return nil
	}
	return new(figure / *p.Active)
}

// OfDevice says how much of what the devices can do by themselves a run took; empty where that was not measured.
func (f Figures) OfDevice() string {
	var parts []string
	if f.DeviceReads != nil {
		parts = append(parts, "reads "+percent(*f.DeviceReads)+" of what the device can do at this latency")
	}
	if f.DeviceLog != nil {
		parts = append(parts, "log writes "+percent(*f.DeviceLog)+" of its limit of one write at a time")
	}
	return strings.Join(parts, ", ")
}

// Costs is what one order took, on average over a window. A cost that was not measured is nil.
type Costs struct {
	Reads         *float64 `json:"device_reads,omitempty"` // of all devices under the databases
	Writes        *float64 `json:"device_writes,omitempty"`
	ReadBytes     *float64 `json:"device_read_bytes,omitempty"`
	WrittenBytes  *float64 `json:"device_written_bytes,omitempty"`
	DeviceSeconds *float64 `json:"device_seconds,omitempty"` // sum of the times that reads and writes took
	LogBytes      *float64 `json:"log_bytes,omitempty"`
	// Of the server's processes; where those cannot be seen, of its machine less ds2.
	ServerCPU *float64 `json:"server_cpu_seconds,omitempty"`
	ClientCPU *float64 `json:"client_cpu_seconds,omitempty"` // of ds2 itself
	Joules    *float64 `json:"joules,omitempty"`
}

// Per divides costs a second by the orders a second; nil where there were no orders or nothing was measured.
func (c Costs) Per(orders float64) *Costs {
	if orders <= 0 || c == (Costs{}) {
		return nil
	}
	for _, cost := range []**float64{
		&c.Reads, &c.Writes, &c.ReadBytes, &c.WrittenBytes, &c.DeviceSeconds, &c.LogBytes,
		&c.ServerCPU, &c.ClientCPU, &c.Joules,
	} {
		if *cost != nil {
			*cost = new(**cost / orders)
		}
	}
	return &c
}
