package workload

import (
	"context"
	"encoding/binary"
	"errors"

	"ds2/internal/result"
	"ds2/internal/store"
)

// Journal takes entries of acknowledged work from many goroutines.
type Journal interface {
	// Note notes an entry, of which it keeps a copy.
	Note(entry []byte)
}

var errEntry = errors.New("read journal: an entry that ds2 does not write")

// ReadEntries reads the entries of a journal, each as encoding/binary has it, big-endian, that are of one target, in
// the order in which they were noted. look gives an entry's target, and whether ds2 writes such an entry.
func ReadEntries[E any](text []byte, target int, look func(*E) (target uint16, known bool)) (all []E, err error) {
	for size := binary.Size(*new(E)); len(text) >= size; text = text[size:] {
		var e E
		_, _ = binary.Decode(text, binary.BigEndian, &e) // the text is long enough
		of, known := look(&e)
		if !known {
			return nil, errEntry
		}
		if int(of) == target {
			all = append(all, e)
		}
	}
	return all, nil
}

// Acknowledger is a Workload whose runs can keep a journal of the work that targets have acknowledged, for tests of
// what a server or its drives lose.
type Acknowledger interface {
	// Journal is what the file of a journal begins with, and the length of each entry after it.
	Journal() (header string, entryBytes int)

	// CheckJournal compares entries, those of all driver machines of a run, with what a target holds, the one of an
	// index among those of the run.
	CheckJournal(
		ctx context.Context, target store.Database, entries []byte, index int, before result.Marks,
	) ([]result.Check, error)
}

// Keeper is a Run whose users note what targets acknowledge.
type Keeper interface {
	// Keep has them note it in j, each entry before the next operation of its user. It is called before the first
	// NewUser.
	Keep(j Journal)

	// Cuts prepares to compare what they note with what the first target holds after each of several cuts of its
	// server. It is called before any user connects.
	Cuts(ctx context.Context, target store.Database, before result.Marks) (Cuts, error)
}

// Holder is a Keeper whose users are held after each cut until it has been compared, also after the one cut of a run
// that goes on: what they would do next hides what was lost.
type Holder interface {
	Keeper
	HoldsAtCuts()
}

// Cuts compares a journal with what a target holds.
type Cuts interface {
	// After adds to a cut what was acknowledged before it, and what of that is lost, old or kept in doubt, while nobody
	// is at work on the target. read gives the journal's entries from a byte of its file on; it is end bytes long.
	After(ctx context.Context, read func(from int64) ([]byte, error), end int64, cut *result.Cut) error
}
