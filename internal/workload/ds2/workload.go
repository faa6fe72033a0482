package ds2

import (
	"context"
	_ "embed"
	"encoding/json"

	"ds2/datagen"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2/audit"
	"ds2/internal/workload/ds2/books"
	"ds2/internal/workload/ds2/calls"
)

var (
	_ workload.Workload     = Workload{}
	_ workload.Acknowledger = Workload{}
	_ workload.Exporter     = Workload{}
	_ workload.Resetter     = Workload{}
	_ workload.Dataset      = Dataset{}
	_ workload.Plan         = (*Plan)(nil)
	_ workload.Keeper       = (*Run)(nil)
)

// Name is that of the workload in databases and records.
const Name = "ds2"

// Workload is DVD Store 2.
type Workload struct {
	// Size that a database is expected to have; nil: what it says itself. One that DS2's own
	// scripts loaded does not say it.
	Size    *datagen.Size
	Engines calls.Engines // that have the calls that an audit tries
}

// Name is that of the workload.
func (Workload) Name() string { return Name }

//go:embed words.json
var wordsText []byte

// told is what the workload says of itself, in the words of its users.
var told = readWords()

type ownWords struct {
	Words    result.Words
	Counters []workload.Counter
}

// readWords reads words.json, which is right, or the program is wrong.
func readWords() (own ownWords) {
	if err := json.Unmarshal(wordsText, &own); err != nil {
		panic(err)
	}
	return own
}

// Words are those of orders (WORKLOAD.md section 6).
func (Workload) Words() result.Words { return told.Words }

// Operations are the procedures and the price query, by Op.
func (Workload) Operations() []workload.Operation { return calls.Operations }

// Counts are the names of the workload's own counts.
func (Workload) Counts() []string { return calls.Counts }

// Counters are the workload's own for Prometheus.
func (Workload) Counters() []workload.Counter { return told.Counters }

// Mark reads the highest keys and the sums by which an audit knows what a run changed.
func (Workload) Mark(ctx context.Context, target store.Database, after bool) (result.Marks, error) {
	m, err := audit.ReadMarks(ctx, target, after)
	return m, target.Wrap("read the highest keys of "+target.Label(), err)
}

// Audit asks a database whether it holds what it must.
func (w Workload) Audit(
	ctx context.Context,
	target store.Database,
	a workload.Audit,
) ([]result.Check, error) {
	return audit.Check(ctx, target, w.Engines, w.Size, a)
}

// Journal is the header of a journal's file and the length of an entry.
func (Workload) Journal() (header string, entryBytes int) { return books.Header, books.Size }

// CheckJournal looks for what a journal noted in a database.
func (Workload) CheckJournal(
	ctx context.Context, target store.Database, entries []byte, of workload.Noted,
) ([]result.Check, error) {
	return books.Check(ctx, target, entries, of)
}
