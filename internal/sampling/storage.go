package sampling

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"ds2/internal/measure"
	"ds2/internal/topology"
)

// PageBytes is the size of a database's page, by which bytes are counted as I/Os of a page.
const PageBytes = 8192

// IOPS is the reads and writes a second of the drives that hold data; NaN where that is unknown.
// Where one of them holds the log too, the log's writes, as the server counts them, are not among
// them, and neither are the reads of a background scan and, where the server tells them apart, the
// reads and writes of vacuums.
func (d Drives) IOPS() float64 {
	s, err := d.Storage()
	if err != nil {
		return math.NaN()
	}
	return s.IOPS
}

// Storage is what the drives did for the databases in a time, by what these keep on them. Rates are
// a second.
type Storage struct {
	// IOPS is the reads and writes of the drives of the data, without those of the log, of a
	// background scan and of vacuums.
	IOPS float64 `json:"iops"`
	// PageIOPS is the bytes of these in pages. It is higher where the kernel merges several pages
	// into one write.
	PageIOPS float64 `json:"page_iops"`

	Reads        float64  `json:"reads_per_s"`
	Writes       float64  `json:"writes_per_s"`
	LogWrites    float64  `json:"log_writes_per_s"`
	LogSyncs     *float64 `json:"log_syncs_per_s,omitempty"` // that the servers counted
	LogBytes     *float64 `json:"bytes_per_log_write"`
	ReadBytes    float64  `json:"read_bytes_per_s"`    // of all drives
	WrittenBytes float64  `json:"written_bytes_per_s"` // of all drives

	// Maintenance is what was taken out of Reads and Writes.
	Maintenance Maintenance `json:"maintenance"`

	// Others is what was taken out besides: the I/Os that the servers did not make, where these
	// count theirs. 0: there were none worth a word.
	Others float64 `json:"other_programs_per_s,omitempty"`

	// How long the servers waited for data and for the log, as they timed it; a write of the log
	// with its sync.
	ServerData *Times `json:"server_data,omitempty"`
	ServerLog  *Times `json:"server_log,omitempty"`

	IOsPerOperation *float64 `json:"ios_per_operation"`
	// IOPSPerWatt counts the log's writes too, as the published reports do.
	IOPSPerWatt *float64 `json:"iops_per_watt,omitempty"`

	// Shared says that one drive holds data and log, so that only the server's counts of the log
	// tell the two apart.
	Shared bool `json:"shared,omitempty"`

	Volumes []Volume `json:"volumes"`

	// Databases is what the servers counted of their files themselves, where they do.
	Databases []DatabaseIO `json:"databases,omitempty"`
}

// Maintenance is the I/O of the data's drives, a second, that no transaction asked for: that of
// background scans and of vacuums. It is missing where the servers do not tell vacuums apart.
type Maintenance struct {
	Reads   *float64 `json:"reads_per_s,omitempty"`
	Writes  *float64 `json:"writes_per_s,omitempty"`
	Bytes   *float64 `json:"bytes_per_s,omitempty"`
	Vacuums bool     `json:"vacuums"` // are among these, which else are unknown
}

// IOPS is reads and writes; NaN where they are unknown.
func (m Maintenance) IOPS() float64 {
	if !m.Vacuums || m.Reads == nil || m.Writes == nil {
		return math.NaN()
	}
	return *m.Reads + *m.Writes
}

// Total is the reads and writes of data and log together, which the published reports call total
// IOPS.
func (s Storage) Total() float64 { return s.IOPS + s.LogWrites }

// Volume is what one drive did.
type Volume struct {
	Name    string          `json:"name"`
	Machine string          `json:"machine,omitempty"` // where several are observed
	Roles   []topology.Role `json:"roles,omitempty"`
	FileIO
}

// countedVolumes are the drives that were counted, of a machine that is known.
func (d Drives) countedVolumes() (all []Volume) {
	for _, drive := range d.items(DiskReads, "") {
		if !d.wasCounted(drive) {
			continue
		}
		v := Volume{Name: drive, FileIO: d.sumIO(drive)}
		if i := slices.IndexFunc(d.Machine.Drives, func(one topology.Drive) bool {
			return one.Name == drive
		}); i >= 0 {
			v.Roles = d.Machine.Drives[i].Roles
			v.Machine = d.Machine.Drives[i].Machine
		}
		all = append(all, v)
	}
	return all
}

// askedDevices are the devices that servers ask for data and log: in place of drives what lies on
// them and does several of their I/Os for one.
func (d Drives) askedDevices() []topology.Drive {
	all := slices.Clone(d.Machine.Volumes)
	for _, drive := range d.Machine.Drives {
		if !slices.ContainsFunc(d.Machine.Volumes, func(v topology.Drive) bool {
			return slices.Contains(v.Under, drive.Name)
		}) {
			all = append(all, drive)
		}
	}
	return all
}

// wasCounted says whether a source counted a drive's requests in the time.
func (d Drives) wasCounted(drive string) bool {
	writes := d.column(DiskWrites, drive)
	uncounted := slices.Contains(d.Counters.Columns, writes) && math.IsNaN(d.mean(writes))
	return !uncounted && !math.IsNaN(d.mean(d.column(DiskReads, drive)))
}

// sumMeans is the sum of a column's means over all items; NaN where there are none, or one of them
// has no value.
func (d Drives) sumMeans(column string) float64 {
	sum := math.NaN()
	for i, name := range d.Counters.Items(column) {
		if i == 0 {
			sum = 0
		}
		sum += d.mean(name)
	}
	return sum
}

// Why there is no Storage, where no drive is to blame.
var (
	errUnplaced = errors.New(
		"which drives hold data and log is unknown, or their I/Os were not counted: " +
			"run ds2 on the database machine, or name its exporter by --exporter " +
			"and these drives by --devices data=nvme1n1,log=nvme2n1")
	errLogUncounted = errors.New("one drive holds data and log, and the server does not count " +
		"how often it syncs the log, as PostgreSQL does since version 14")
)

// checkKnown says why the I/Os of the drives of a role are not known; nil where they are.
func (d Drives) checkKnown(role topology.Role) error {
	err := errUnplaced
	for _, drive := range d.askedDevices() {
		if !drive.Holds(role) {
			continue
		}
		if drive.WritesUnknown != "" {
			return fmt.Errorf("the writes of drive %s are unknown: %s", drive.Name,
				drive.WritesUnknown)
		}
		if !d.wasCounted(drive.Name) {
			return errUnplaced
		}
		err = nil
	}
	return err
}

// Storage sums up what the drives did. It is the one place that says what of it was data and what
// the log: by the drives where these are apart, else by how often the servers synced their logs.
// The error says what is not known.
func (d Drives) Storage() (*Storage, error) {
	if d.Machine == nil {
		return nil, errUnplaced
	}
	if err := cmp.Or(d.checkKnown(topology.Data), d.checkKnown(topology.Log)); err != nil {
		return nil, err
	}
	syncs := d.sumMeans(DatabaseLogSyncs)
	s := &Storage{
		LogSyncs:   measure.Known(syncs),
		ServerData: d.serverTimes(topology.Data),
		ServerLog:  d.serverTimes(topology.Log),
		Volumes:    d.countedVolumes(),
		Databases:  d.Databases(),
	}
	var bytes, logBytes float64
	for _, v := range s.Volumes {
		s.ReadBytes += v.ReadBytes
		s.WrittenBytes += v.WrittenBytes
	}
	for _, drive := range d.askedDevices() {
		v := d.sumIO(drive.Name)
		data := drive.Holds(topology.Data)
		log := drive.Holds(topology.Log)
		switch {
		// What a drive of data and log did counts as data's here; the log's part is taken out
		// below.
		case data:
			s.Reads += v.Reads
			s.Writes += v.Writes
			bytes += v.ReadBytes + v.WrittenBytes
			s.Shared = s.Shared || log
		case log:
			s.LogWrites += v.Writes
			logBytes += v.WrittenBytes
		}
	}
	if s.Shared { // of the log's writes, those that did not go to a separate drive
		// A sync of the log is one write of a drive, however many commits share it. What the drives
		// of separate logs saw of the syncs has been counted.
		writes := max(0, syncs-s.LogWrites)
		written := max(0, d.sumMeans(DatabaseLogBytes)-logBytes)
		if math.IsNaN(writes + written) {
			return nil, errLogUncounted
		}
		s.LogWrites += writes
		logBytes += written
		s.Writes = max(0, s.Writes-writes)
		bytes = max(0, bytes-written)
	}
	// past the server's own counters, so before the vacuums, which they count
	scans, scanned := d.scannedReads()
	scans = min(s.Reads, scans)
	scanned = min(bytes, scanned)
	s.Reads -= scans
	bytes = d.takeOthers(s, bytes-scanned)

	vacuumed := d.byVacuums(s.Reads, VacuumReads, TransactionReads)
	wrote := d.byVacuums(s.Writes, VacuumWrites, TransactionWrites)
	if !math.IsNaN(vacuumed + wrote) {
		cleaned := orZero(bytes * (vacuumed + wrote) / (s.Reads + s.Writes)) // 0/0 of no I/O
		s.Reads -= vacuumed
		s.Writes -= wrote
		bytes -= cleaned
		s.Maintenance = Maintenance{
			Reads:   new(vacuumed + scans),
			Writes:  &wrote,
			Bytes:   new(cleaned + scanned),
			Vacuums: true,
		}
	}
	s.IOPS = s.Reads + s.Writes
	s.PageIOPS = bytes / PageBytes
	s.LogBytes = measure.Known(logBytes / s.LogWrites)
	return s, nil
}

// serverTimes are those that servers took of I/Os of a role; nil where they took none.
func (d Drives) serverTimes(role topology.Role) *Times {
	t := d.meanTimes(role, d.servedBy)
	if t == (Times{}) {
		return nil
	}
	return &t
}
