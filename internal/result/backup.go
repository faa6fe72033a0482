package result

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"ds2/internal/monitor"
	"ds2/internal/store"
)

// Backup is the summary.json of a backup test: how fast the servers read for a backup that nobody kept. Beside it lies
// HostFile, whose times count from the start of the reading.
type Backup struct {
	Head
	KitVersion string    `json:"kit_version"`
	RunID      string    `json:"run_id"`
	Status     Status    `json:"status"`
	Error      string    `json:"error,omitempty"`
	Start      time.Time `json:"start"`
	End        time.Time `json:"end,omitzero"`
	Command    *Command  `json:"command,omitempty"`

	Engine  string       `json:"engine"`
	Targets []string     `json:"targets"` // labels, without user or password
	Units   []BackupUnit `json:"units"`   // read at once

	// Of all units: the bytes, the time of the slowest, and their quotient.
	Bytes       int64   `json:"bytes"`
	Seconds     float64 `json:"seconds"`
	MBPerSecond float64 `json:"mb_per_s"` // of 10^6 bytes

	Machine *monitor.Machine `json:"machine,omitempty"`
	Volumes []monitor.Volume `json:"volumes,omitempty"` // what the drives did meanwhile
}

// BackupUnit is one of the backups, of a database or of a cluster of several.
type BackupUnit struct {
	store.Backup
	Targets     []string `json:"targets"`
	MBPerSecond float64  `json:"mb_per_s"`
}

func (b *Backup) check() error {
	switch {
	case !slices.Contains(statuses, b.Status):
		return fmt.Errorf("its status is %q, which is none", b.Status)
	case len(b.Targets) == 0:
		return errors.New("it has no targets")
	case b.Seconds < 0 || b.MBPerSecond < 0:
		return errors.New("its time or rate is negative")
	}
	return nil
}
