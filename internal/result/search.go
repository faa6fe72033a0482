package result

import (
	"cmp"
	"errors"
	"fmt"
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

	// The result is that of the median of the best point's trials; there is none where no number of users kept the
	// limits.
	Headline
	Verdicts []limit.Verdict `json:"verdicts"` // of the limits in that trial
}

// Unit is that of the search's trials.
func (s Search) Unit() string { return cmp.Or(s.known().Unit, s.Words.Unit) }

func (s *Search) check() error {
	for _, p := range s.Curve {
		if len(p.Trials) == 0 {
			return fmt.Errorf("it has no trial of %d users", p.Threads)
		}
	}
	if s.Best != nil && (len(s.Best.Trials) == 0 || s.Figure == nil) {
		return errors.New("its result has no trial or no figure")
	}
	return nil
}
