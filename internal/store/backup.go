package store

import "context"

// BackupReader is a server that can read all that a backup of it reads, for a backup that nobody keeps.
type BackupReader interface {
	// BackupUnit names what one backup reads: the database or, where a server can only back up all of its databases
	// together, their cluster. Targets of one unit take one backup.
	BackupUnit(ctx context.Context) (string, error)

	// ReadBackup has the server read it and discards it. Nothing is left behind, however it ends. The databases may be
	// at work.
	ReadBackup(ctx context.Context, tell func(done, total int64)) (Backup, error)
}

// Backup is what reading a backup gave.
type Backup struct {
	Unit      string  `json:"unit"`
	Server    string  `json:"server"`             // its name and version
	Method    string  `json:"method"`             // what the server was asked for
	Streamed  bool    `json:"streamed,omitempty"` // to ds2, which discarded it: the network counts too
	Checksums bool    `json:"checksums"`          // of the pages were verified on the way
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds"`
	Device    *int64  `json:"device_bytes"` // got from the drives, not from the kernel's page cache; nil: unknown

	// What the server itself counted of the database's files; nil where it does not.
	Reads  *int64   `json:"server_reads,omitempty"`
	MeanMS *float64 `json:"server_read_ms,omitempty"`
}
