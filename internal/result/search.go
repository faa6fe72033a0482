package result

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"ds2/internal/limit"
	"ds2/internal/tune"
)

// SearchFile is the name of a search's record in its directory; the records of its trials lie in directories beside it.
const SearchFile = "tune.json"

// What a search is made of.
type (
	Trial = tune.Trial
	Point = tune.Point
	Curve = tune.Curve
)

// Search is the record of a search for the best number of users.
type Search struct {
	Schema     int       `json:"schema"`
	KitVersion string    `json:"kit_version"`
	RunID      string    `json:"run_id"`
	Status     Status    `json:"status,omitempty"`
	Start      time.Time `json:"start"`
	End        time.Time `json:"end,omitzero"`
	Command    *Command  `json:"command,omitempty"`
	Engine     string    `json:"engine"`
	Targets    []string  `json:"targets"` // labels, without user or password
	Size       string    `json:"size"`
	Words      Words     `json:"words"` // the workload's

	Restore string   `json:"restore"` // of the database before each trial: reset, snapshot, command or none; "snapshot, cloned"
	Limits  []string `json:"limits"`

	Seed       uint64     `json:"seed,omitempty"` // that of each trial is higher by its number
	Parameters Parameters `json:"parameters,omitzero"`

	Trials []Trial `json:"trials,omitempty"` // in the order of time

	tune.Config
	tune.Result

	// The result is that of the median of the best point's trials; there is none where no number of users kept the limits.
	Headline
	Verdicts []limit.Verdict `json:"verdicts"` // of the limits in that trial
}

// Unit is that of the search's trials.
func (s Search) Unit() string {
	if s.Figure != nil {
		return s.Figure.Unit
	}
	return s.Words.Unit
}

// SaveSearch writes the record of a search into dir.
func SaveSearch(dir string, s Search) error {
	s.Schema = Schema
	return SaveJSON(filepath.Join(dir, SearchFile), s)
}

// ReadSearch reads the record of a search in dir; nil where there is none.
func ReadSearch(dir string) (*Search, error) {
	var r Search
	err := readJSON(filepath.Join(dir, SearchFile), &r)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read record of a search: %w", err)
	}
	if err := knownSchema(r.Schema); err != nil {
		return nil, fmt.Errorf("read record of a search: %s %w", dir, err)
	}
	for _, p := range r.Curve {
		if len(p.Trials) == 0 {
			return nil, fmt.Errorf("read record of a search: %s: it has no trial of %d users", filepath.Join(dir, SearchFile), p.Threads)
		}
	}
	if r.Best != nil && (len(r.Best.Trials) == 0 || r.Figure == nil) {
		return nil, fmt.Errorf("read record of a search: %s: its result has no trial or no figure", filepath.Join(dir, SearchFile))
	}
	return &r, nil
}
