package topology

// Flushing is how the flushes of a drive stand among its writes.
type Flushing struct {
	Through        bool    // there are none: the drive has no write-back cache
	OfJournalWrite float64 // flush requests that a write of a file system's journal makes
	Unknown        string  // why the empty ones cannot be told from writes
}
