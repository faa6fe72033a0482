package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ds2/internal/limit"
	"ds2/internal/result"
)

// File is the name of a search's record in its folder; the records of its trials lie in folders beside it.
const File = "tune.json"

// Schema is the version of the record. A reader refuses a newer one.
const Schema = 1

// Record is a search on disk.
type Record struct {
	Schema     int       `json:"schema"`
	KitVersion string    `json:"kit_version"`
	RunID      string    `json:"run_id"`
	Start      time.Time `json:"start"`
	End        time.Time `json:"end,omitzero"`
	Engine     string    `json:"engine"`
	Targets    []string  `json:"targets"` // labels, without user or password
	Size       string    `json:"size"`
	Restore    string    `json:"restore"` // of the database before each trial: reset, snapshot, command or none
	Limits     []string  `json:"limits"`

	Config
	Result

	// OPM is the result: that of the median of the best point's trials; null where no number of users kept the limits.
	OPM      *float64        `json:"opm"`
	Verdicts []limit.Verdict `json:"verdicts"` // of the limits in that trial
}

// Save writes the record into dir.
func (r Record) Save(dir string) error {
	r.Schema = Schema
	return result.SaveJSON(filepath.Join(dir, File), r)
}

// Read reads the record of a search in dir; nil where there is none.
func Read(dir string) (*Record, error) {
	text, err := os.ReadFile(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read record of a search: %w", err)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read record of a search: %s: %w", filepath.Join(dir, File), err)
	}
	if r.Schema < 1 || r.Schema > Schema {
		return nil, fmt.Errorf("read record of a search: %s has schema %d, and this ds2 knows up to %d: use a newer ds2", dir, r.Schema, Schema)
	}
	return &r, nil
}
