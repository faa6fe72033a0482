package result

// Bottleneck is what held the orders back in the first window, and the figures that say so.
type Bottleneck struct {
	// errors, storage, cpu, storage and cpu, locks, client, network or unclear
	What    string   `json:"what"`
	Why     string   `json:"why"` // in words
	Figures Evidence `json:"figures"`
}

// Evidence is what the rules of the bottleneck rest on: means over a window. Shares are of 1. What
// was not measured is nil.
type Evidence struct {
	CPUBusy   *float64 `json:"cpu.busy_ratio,omitempty"` // of the database machine's CPUs
	CPUIOWait *float64 `json:"cpu.iowait_ratio,omitempty"`
	// The parts of CPUBusy that the database's processes and ds2 take, where they are on that
	// machine.
	CPUDatabase *float64 `json:"cpu.database_ratio,omitempty"`
	CPUOwn      *float64 `json:"cpu.own_ratio,omitempty"`

	// The CPUs that the database server's container may use, where that is less than all, what it
	// takes of these, and in how many of the periods in which their time is counted it was
	// throttled.
	ServerProcessors *float64 `json:"server.processors,omitempty"`
	ServerUsed       *float64 `json:"server.used_ratio,omitempty"`
	ServerThrottled  *float64 `json:"server.throttled_ratio,omitempty"`

	// of the CPUs of the machine that ds2 runs on
	ClientBusy *float64 `json:"client.busy_ratio,omitempty"`
	ClientOwn  *float64 `json:"client.own_processors,omitempty"`
	// what ds2 takes of the CPUs that it may use
	ClientUsed      *float64 `json:"client.used_ratio,omitempty"`
	ClientThrottled *float64 `json:"client.throttled_ratio,omitempty"`

	DiskBusy      *float64 `json:"disk.busy_ratio,omitempty"`      // of the busiest device
	ReadsPerOrder *float64 `json:"disk.reads_per_order,omitempty"` // of all devices
	// Of the database server's processes, from drives.
	ReadBytesPerOrder *float64 `json:"server.read_bytes_per_order,omitempty"`
	// of the busiest link's speed
	NetworkUsed *float64 `json:"network.used_ratio,omitempty"`
	// of a message without work
	RoundTrip *float64 `json:"network.round_trip_seconds,omitempty"`
	// of the device with the longest
	DiskQueue *float64 `json:"disk.queue,omitempty"`
	// Of that device's reads: their time over that of the run's best seconds.
	DiskSlowdown *float64 `json:"disk.slowdown,omitempty"`
	// Shares of the window in which more was asked of a volume than a limit let through: its own,
	// or that of the virtual machine; of the volume with the highest.
	VolumeIOPS        *float64 `json:"disk.volume_iops_exceeded_ratio,omitempty"`
	VolumeThroughput  *float64 `json:"disk.volume_throughput_exceeded_ratio,omitempty"`
	MachineIOPS       *float64 `json:"disk.machine_iops_exceeded_ratio,omitempty"`
	MachineThroughput *float64 `json:"disk.machine_throughput_exceeded_ratio,omitempty"`
	// Of what ds2 device found the devices to do: of reads at this latency, and of log writes.
	DeviceReads *float64 `json:"device.reads_ratio,omitempty"`
	// of the most reads that it found at any latency
	DeviceMost *float64 `json:"device.most_reads_ratio,omitempty"`
	DeviceLog  *float64 `json:"device.log_syncs_ratio,omitempty"`

	*Sessions // nil: the server does not tell what they do

	// Failed attempts for each order begun; of the window, while no order was completed and
	// attempts failed; of the users' time, until they try or connect again.
	Errors  *float64 `json:"errors.per_order,omitempty"`
	Stalled *float64 `json:"errors.stalled_ratio,omitempty"`
	// share of the window in which nothing was completed for seconds on end
	Still  *float64 `json:"still_ratio,omitempty"`
	HeldUp *float64 `json:"users.held_up_ratio,omitempty"`

	InOperations *float64 `json:"users.in_operations,omitempty"` // of the users' time
	// of the users' time: messages on their way
	InRoundTrips *float64 `json:"users.in_round_trips,omitempty"`

	DatabaseSize *float64 `json:"db.size_bytes,omitempty"`
	CacheHits    *float64 `json:"db.cache_hit_ratio,omitempty"`
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
