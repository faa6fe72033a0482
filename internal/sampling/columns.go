package sampling

import "strings"

// The columns of the record, as GROUP.QUANTITY; a quantity ends in its unit. What a machine has
// several of stands between the two: [ItemColumn] of DiskReads and sda is
// "disk.sda.reads_per_second". Those that are read by name stand here, all in figures.tsv.
const (
	DiskReads        = "disk.reads_per_second"
	DiskWrites       = "disk.writes_per_second" // without empty flushes
	DiskReadBytes    = "disk.read_bytes_per_second"
	DiskWrittenBytes = "disk.written_bytes_per_second"
	DiskReadTime     = "disk.read_seconds"  // mean of the reads of the second
	DiskWriteTime    = "disk.write_seconds" // mean of the writes of the second
	DiskFlushes      = "disk.flushes_per_second"
	DiskFlushTime    = "disk.flush_seconds" // mean of the flushes of the second
	// of file systems' journals, each with its blocks and flushes
	DiskJournalWrites = "disk.journal_writes_per_second"
	DiskBusy          = "disk.busy_ratio"
	DiskQueue         = "disk.queue"

	// Shares of the second in which more was asked of a volume than its limits let through, or
	// those of the virtual machine.
	VolumeIOPSExceeded        = "disk.volume_iops_exceeded_ratio"
	VolumeThroughputExceeded  = "disk.volume_throughput_exceeded_ratio"
	MachineIOPSExceeded       = "disk.machine_iops_exceeded_ratio"
	MachineThroughputExceeded = "disk.machine_throughput_exceeded_ratio"

	CPUBusy   = "cpu.busy_ratio" // of all CPUs, and of each
	CPUIOWait = "cpu.iowait_ratio"

	CPUSteal     = "cpu.steal_ratio" // time that the hypervisor took
	CPUFrequency = "cpu.frequency_hertz"
	CPUThrottles = "cpu.throttles_per_second" // by heat
	Temperature  = "cpu.temperature_celsius"  // the highest of the machine's thermal zones

	MemoryAvailable = "memory.available_bytes"

	NetworkReceived = "network.received_bytes_per_second"
	NetworkSent     = "network.sent_bytes_per_second"
	NetworkUsed     = "network.used_ratio" // of the link's speed

	ClientBusy = "client.busy_ratio"     // of the machine that ds2 runs on
	ClientOwn  = "client.own_processors" // those that ds2 itself takes
	ClientUsed = "client.used_ratio"     // the same, of those that it may take

	// periods in which ds2's container had used up its CPU time
	ClientThrottled = "client.throttled_ratio"

	// those that the database server's processes take
	ServerProcessors = "server.own_processors"
	// the same, of those that its container may take
	ServerUsed = "server.used_ratio"
	// periods in which its container had used up its CPU time
	ServerThrottled = "server.throttled_ratio"
	ServerReadBytes = "server.read_bytes_per_second" // that its processes had read from drives
	ServerMemory    = "server.available_bytes"       // that its container can still have

	// What scans beside the users read, over all targets.
	ScrubReads       = "scrub.reads_per_second" // requests
	ScrubReadBytes   = "scrub.read_bytes_per_second"
	ScrubDeviceBytes = "scrub.device_bytes_per_second" // of these, what came from drives

	Power = "power.watts"

	DatabaseCacheHits      = "db.cache_hit_ratio"
	DatabaseCacheLookups   = "db.cache_lookups_per_second"
	DatabaseTemporaryBytes = "db.temporary_bytes_per_second"
	DatabaseLogBytes       = "db.log_bytes_per_second"
	DatabaseLogWrites      = "db.log_writes_per_second"
	DatabaseLogSyncs       = "db.log_syncs_per_second"
	// seconds a second, as are the others that end in no unit
	DatabaseLogWriteTime    = "db.log_write"
	DatabaseLogSyncTime     = "db.log_sync"
	DatabasePageReads       = "db.page_reads_per_second" // by users and vacuums
	DatabasePageReadTime    = "db.page_read"
	DatabaseCheckpoints     = "db.checkpoints_per_second"
	DatabaseCheckpointPages = "db.checkpoint_pages_per_second"
	DatabaseBackgroundPages = "db.background_pages_per_second"
	DatabaseSessionPages    = "db.session_pages_per_second"
	DatabaseAutovacuums     = "db.autovacuums_per_second" // tables vacuumed or analyzed
	DatabaseVacuums         = "db.vacuums_running"
	// more than 0 in each second in which the server read its settings anew
	DatabaseSettingsLoaded = "db.settings_load_time_per_second"
	// another one in each second in which a setting of the server was changed
	DatabaseSettingsSum   = "db.settings_sum"
	DatabaseOtherSessions = "db.other_sessions" // at work
	TransactionReads      = "db.transaction_reads_per_second"
	TransactionReadTime   = "db.transaction_read"
	TransactionWrites     = "db.transaction_writes_per_second"
	TransactionWriteTime  = "db.transaction_write"
	TransactionExtends    = "db.transaction_extends_per_second"
	VacuumReads           = "db.vacuum_reads_per_second"
	VacuumWrites          = "db.vacuum_writes_per_second"
	DatabaseSize          = "db.size_bytes"
	DatabaseRoundTrip     = "db.round_trip_seconds"
	// measured by the server; the others are samples
	SessionsActive           = "db.sessions_active"
	SessionsIdle             = "db.sessions_idle"
	SessionsRunning          = "db.sessions_running"
	SessionsWaitingForLock   = "db.sessions_waiting_for_lock"
	SessionsWaitingForDrives = "db.sessions_waiting_for_storage"
	SessionsWaitingForLatch  = "db.sessions_waiting_for_latch"
	SessionsWaitingForClient = "db.sessions_waiting_for_client"
	SessionsWaitingForRest   = "db.sessions_waiting_for_the_rest"
)

// OfFile is the column for what a database server itself counted of a file of the database, as that
// of a drive is for the drive's. Where the drives cannot be observed, the files stand in the
// columns of those.
func OfFile(column string) string { return "file" + strings.TrimPrefix(column, "disk") }

// ofVolume is the column for what was asked of a volume that does several I/Os of drives for one.
func ofVolume(column string) string { return "volume" + strings.TrimPrefix(column, "disk") }

// ItemColumn is the column of one item; of the empty one it is the column's own name.
func ItemColumn(column, item string) string {
	if item == "" {
		return column
	}
	group, quantity, _ := strings.Cut(column, ".")
	return group + "." + item + "." + quantity
}

// SplitColumn undoes ItemColumn. An item may have dots in it.
func SplitColumn(name string) (column, item string) {
	group, rest, _ := strings.Cut(name, ".")
	dot := strings.LastIndexByte(rest, '.')
	if dot < 0 {
		return name, ""
	}
	return group + "." + rest[dot+1:], rest[:dot]
}
