package mailbox

import (
	"context"
	"maps"
	"slices"

	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

func (Workload) Journal() (header string, entryBytes int) { return journalHeader, entrySize }
func (r *Run) Keep(j workload.Journal)                    { r.keeper = &keeper{journal: j} }

func (r *Run) Cuts(_ context.Context, target store.Database, _ result.Marks) (workload.Cuts, error) {
	return &cuts{run: r, target: target, shape: r.targets[0].Dataset.shape(), held: map[uint64]state{}}, nil
}

// HoldsAtCuts: a user that went on would hide by its next writes what a cut took back, and not find what it believes to
// be there.
func (r *Run) HoldsAtCuts() {}

// cuts compares the journal of the first target with what it holds.
type cuts struct {
	run    *Run
	target store.Database
	shape  Shape
	last   int64            // byte of the journal at which the last cut came
	held   map[uint64]state // what the server held then of the records that had been written before it
}

// After compares what was acknowledged since the last cut, and what the server still held after it, with what it holds
// now. The users get to know which of their records are not as they left them.
func (c *cuts) After(ctx context.Context, read func(from int64) ([]byte, error), end int64, cut *result.Cut) error {
	text, err := read(c.last)
	if err != nil {
		return err
	}
	entries, err := readEntries(text, 0)
	if err != nil {
		return err
	}
	numbers := maps.Clone(c.held)
	for _, e := range entries {
		numbers[e.Number] = state{}
	}
	now, err := readStates(ctx, c.target, c.shape, numbers)
	if err != nil {
		return err
	}
	l := compare(entries, c.held, now)
	c.last, c.held = end, l.held
	c.reconcile(l)
	cut.Acknowledged, cut.InDoubt, cut.Kept = l.acknowledged, l.inDoubt, l.kept
	cut.Lost, cut.LostWhat = commits(l.lost), result.Ranges(numbersOf(l.lost))
	cut.Own = map[string]int64{lostLazy: commits(l.lazy)}
	return nil
}

// reconcile tells the journal and the users what was lost and what is there instead.
func (c *cuts) reconcile(l loss) {
	note := func(e entry) { c.run.keeper.journal.Note(e.append(nil)) }
	for i, e := range slices.Concat(l.lost, l.lazy) {
		e.Kind, e.Lazy = lost, i >= len(l.lost)
		note(e)
	}
	for _, n := range l.changed {
		is := l.held[n]
		e := entry{Kind: found, Op: Delete, Number: n, Sum: is.Sum}
		if is.There {
			e.Op = Read
		}
		note(e)
		c.run.live[0].of(n).Found(n, is.There)
	}
}

// CheckJournal compares what a run's journal says with what a target holds after it. What cuts took back was found when
// they came, and stands in the journal.
func (Workload) CheckJournal(
	ctx context.Context, target store.Database, text []byte, index int, _ result.Marks,
) ([]result.Check, error) {
	entries, err := readEntries(text, index)
	if err != nil {
		return nil, err
	}
	_, d, err := datasetOf(ctx, target, "look at "+target.Label())
	if err != nil {
		return nil, err
	}
	l := readLeft(entries)
	written := maps.Clone(l.last)
	for n := range l.or {
		written[n] = state{}
	}
	now, err := readStates(ctx, target, d.shape(), written)
	if err != nil {
		return nil, err
	}
	for n := range written {
		if !l.may(n, now[n]) {
			l.lost = append(l.lost, entry{Number: n})
		}
	}
	const (
		fault = "writes that were lost, of full commits or lazy ones acknowledged before a full one was sent"
		usual = "writes of other lazy commits that were lost, as they may be"
	)
	lost, lazy := result.Named("records", numbersOf(l.lost)), result.Named("records", numbersOf(l.lazy))
	return []result.Check{
		result.NewCheck(target.Label(), fault, len(l.lost) == 0, 0, lost),
		result.NewCheck(target.Label(), usual, true, "any", lazy),
	}, nil
}

// readStates reads in what state a database holds the records of numbers.
func readStates(
	ctx context.Context, target store.Database, shape Shape, of map[uint64]state,
) (map[uint64]state, error) {
	states := make(map[uint64]state, len(of))
	note := func(n uint64, r *Record) {
		states[n] = state{There: true, Sum: r.Sum, Damaged: r.Check() != nil}
	}
	err := eachOf(ctx, target.DB(), shape, slices.Values(slices.Sorted(maps.Keys(of))), note)
	return states, target.Wrap("read the records of "+target.Label(), err)
}

func numbersOf(entries []entry) []int64 {
	numbers := make([]int64, len(entries))
	for i, e := range entries {
		numbers[i] = int64(e.Number)
	}
	return numbers
}
