package result

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// Search is the summary.json of a search for the best number of users. The records of its trials
// lie in directories beside it.
type Search struct {
	Head
	Spec   `json:"spec"` // of its trials, with the users of the first
	Status Status        `json:"status,omitempty"`
	Start  time.Time     `json:"start"`
	End    time.Time     `json:"end,omitzero"`

	Trials []Trial `json:"trials,omitempty"` // in the order of time

	SearchConfig
	SearchResult

	// The result is the median of the trials that confirm the number of users; there is none where
	// no number of users kept the limits.
	Headline
	Verdicts Verdicts `json:"verdicts"` // of the limits in all of those trials
}

// Unit is that of the search's trials.
func (s Search) Unit() string { return cmp.Or(s.known().Unit, s.Words.Unit) }

func (s *Search) check() error {
	if s.Users != 0 && (len(Confirming(s.Trials, s.Users)) == 0 || s.Figure == nil) {
		return errors.New("its result has no trial or no figure")
	}
	return nil
}

// Trial is what one run with a number of users gave.
type Trial struct {
	Threads int     `json:"threads"`
	Value   float64 `json:"value"` // the figure that counts, OPM or another of the same sense:
	Unit    string  `json:"unit"`
	P95     float64 `json:"order_p95_seconds"`

	// Strain is the highest ratio of a measured figure to its upper limit: 0.8 keeps every limit
	// with 20 % to spare.
	Strain float64 `json:"strain"`
	Passed bool    `json:"passed"` // every upper limit holds
	// CannotTell says why the last of the confirming trials did not pass: each of them holds the
	// limits, and the interval of their mean does not.
	CannotTell bool `json:"cannot_tell,omitempty"`

	Drives TrialDrives `json:"drives,omitzero"`

	Error string `json:"error,omitempty"` // by which the run ended before its window did

	Why     string `json:"why,omitempty"`     // why the search made it
	Confirm bool   `json:"confirm,omitempty"` // made when its number was chosen
	Record  string `json:"record,omitempty"`  // directory of the run's record
}

// TrialDrives is what the drives did in a trial; nil is not known.
type TrialDrives struct {
	IOPS     *float64 `json:"iops,omitempty"`
	Read     *float64 `json:"read_ms,omitempty"` // of the slowest drive, as are the others
	Write    *float64 `json:"write_ms,omitempty"`
	LogWrite *float64 `json:"log_write_ms,omitempty"`
}

// SearchConfig is how to search.
type SearchConfig struct {
	Start   int `json:"start_threads"` // of the first trial
	Max     int `json:"max_threads"`
	Confirm int `json:"confirm"` // trials that confirm the number of users
}

// SearchResult is what a search found.
type SearchResult struct {
	// the largest number all of whose confirming trials passed; 0: none
	Users int    `json:"users,omitempty"`
	Why   string `json:"why"` // no more users are in question
}

// Confirming are the trials that confirm a number of users.
func Confirming(trials []Trial, users int) []Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t Trial) bool {
		return !t.Confirm || t.Threads != users
	})
}
