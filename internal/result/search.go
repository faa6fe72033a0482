package result

import (
	"cmp"
	"errors"
	"time"

	"ds2/internal/limit"
	"ds2/internal/tune"
)

// Trial is one of those that a search is made of.
type Trial = tune.Trial

// Search is the summary.json of a search for the best number of users. The records of its trials lie in directories
// beside it.
type Search struct {
	Head
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

	Restore string   `json:"restore"` // before each trial: reset, snapshot, command or none
	Limits  []string `json:"limits"`

	Seed       uint64     `json:"seed,omitempty"` // that of each trial is higher by its number
	Parameters Parameters `json:"parameters,omitzero"`

	Trials []Trial `json:"trials,omitempty"` // in the order of time

	tune.Config
	tune.Result

	// The result is the median of the trials that confirm the number of users; there is none where no number of users
	// kept the limits.
	Headline
	Verdicts []limit.Verdict `json:"verdicts"` // of the limits in all of those trials
}

// Unit is that of the search's trials.
func (s Search) Unit() string { return cmp.Or(s.known().Unit, s.Words.Unit) }

func (s *Search) check() error {
	if s.Users != 0 && (len(tune.Confirming(s.Trials, s.Users)) == 0 || s.Figure == nil) {
		return errors.New("its result has no trial or no figure")
	}
	return nil
}
