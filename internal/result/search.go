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
	Spec   `json:"spec"` // of its trials, with the users of the first
	Status Status        `json:"status,omitempty"`
	Start  time.Time     `json:"start"`
	End    time.Time     `json:"end,omitzero"`

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
