package workload

import (
	"context"

	"ds2/internal/result"
	"ds2/internal/store"
)

// Journal takes entries of acknowledged work from many goroutines.
type Journal interface {
	// Note notes an entry, of which it keeps a copy.
	Note(entry []byte)
}

// Acknowledger is a Workload whose runs can keep a journal of the work that targets have
// acknowledged, to find what a server or its drives lose.
type Acknowledger interface {
	// Journal is what the file of a journal begins with, and the length of each entry after it.
	Journal() (header string, entryBytes int)

	// CheckJournal compares entries, those of all driver machines of a run, with what a target
	// holds.
	CheckJournal(
		ctx context.Context,
		target store.Database,
		entries []byte,
		of Noted,
	) ([]result.Check, error)
}

// Noted is what a journal is about, besides its entries.
type Noted struct {
	Target int          // its index in the run
	Before result.Marks // of the target, before the first entry

	// Untold is how many cycles may be done that no journal tells of, because ds2 was killed before
	// it noted their end: as many as there were users.
	Untold int
}

// Keeper is a Run whose users note what targets acknowledge.
type Keeper interface {
	// Keep has them note it in j, each entry before the next operation of its user. It is called
	// before the first NewUser.
	Keep(j Journal)
}
