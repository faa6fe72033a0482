package mailbox

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/fuzztest"
)

// TestCompare: what a server had to keep is told from what it did not have to.
func TestCompare(t *testing.T) {
	full := func(sent, acked, n uint64, sum uint32) entry {
		return entry{Op: Replace, Changed: true, Number: n, Sum: sum, Sent: sent, Acked: acked}
	}
	lazy := func(sent, acked, n uint64, sum uint32) entry {
		e := full(sent, acked, n, sum)
		e.Lazy = true
		return e
	}
	doubt := func(sent, n uint64, sum uint32) entry {
		e := full(sent, 0, n, sum)
		e.Kind = doubtful
		return e
	}
	deleted := func(e entry) entry {
		e.Op, e.Sum = Delete, 0
		return e
	}
	inserted := func(e entry) entry {
		e.Op = Insert
		return e
	}
	unchanged := func(e entry) entry {
		e.Changed = false
		return e
	}
	is := func(sum uint32) state { return state{There: true, Sum: sum} }
	type states = map[uint64]state
	for _, c := range []struct {
		why          string
		entries      []entry
		before, now  states
		lost, lazy   int64 // commits
		changed      []uint64
		doubts, kept int64
	}{
		{why: "all there", entries: []entry{full(1, 2, 7, 70), lazy(3, 4, 8, 80)}, now: states{7: is(70), 8: is(80)}},
		{why: "a full one is lost", entries: []entry{full(1, 2, 7, 70)}, now: states{7: is(1)}, lost: 1, changed: []uint64{7}},
		{why: "the last lazy one is lost", entries: []entry{full(1, 2, 7, 70), lazy(3, 4, 8, 80)}, now: states{7: is(70), 8: is(1)}, lazy: 1, changed: []uint64{8}},
		{why: "a lazy one before a full one is lost", entries: []entry{lazy(1, 2, 8, 80), full(3, 4, 7, 70)}, now: states{7: is(70), 8: is(1)}, lost: 1, changed: []uint64{8}},
		{why: "it was acknowledged while the full one was under way", entries: []entry{full(1, 4, 7, 70), lazy(2, 3, 8, 80)}, now: states{7: is(70), 8: is(1)}, lazy: 1, changed: []uint64{8}},
		{why: "the full one after it had nothing to write", entries: []entry{lazy(1, 2, 8, 80), unchanged(deleted(full(3, 4, 7, 0)))}, now: states{8: is(1)}, lazy: 1, changed: []uint64{8}},
		{why: "an insert is gone", entries: []entry{full(1, 2, 7, 70)}, now: states{}, lost: 1, changed: []uint64{7}},
		{why: "a delete is undone", entries: []entry{deleted(full(1, 2, 7, 0))}, now: states{7: is(1)}, lost: 1, changed: []uint64{7}},
		{why: "a lazy write after a full one is lost", entries: []entry{full(1, 2, 7, 70), lazy(3, 4, 7, 71)}, now: states{7: is(70)}, lazy: 1, changed: []uint64{7}},
		{why: "both are lost", entries: []entry{full(1, 2, 7, 70), lazy(3, 4, 7, 71)}, now: states{7: is(1)}, lost: 1, lazy: 1, changed: []uint64{7}},
		{why: "in doubt and there", entries: []entry{full(1, 2, 7, 70), doubt(3, 7, 71)}, now: states{7: is(71)}, doubts: 1, kept: 1},
		{why: "in doubt and not there", entries: []entry{full(1, 2, 7, 70), doubt(3, 7, 71)}, now: states{7: is(70)}, doubts: 1},
		{why: "in doubt and tried again", entries: []entry{doubt(1, 7, 70), full(1, 2, 7, 70)}, now: states{7: is(70)}},
		{why: "in doubt and there in part", entries: []entry{doubt(1, 7, 70), doubt(1, 8, 80)}, now: states{7: is(70), 8: is(1)}, lost: 1, doubts: 1},
		{why: "lazy and there in part", entries: []entry{lazy(1, 2, 7, 70), lazy(1, 2, 8, 80)}, now: states{7: is(70), 8: is(1)}, lost: 1, changed: []uint64{8}},
		{why: "lazy, in part an insert that was deleted", entries: []entry{inserted(lazy(1, 2, 7, 70)), lazy(1, 2, 8, 80), deleted(lazy(3, 4, 7, 0))}, now: states{8: is(1)}, lazy: 1, changed: []uint64{8}},
		{why: "lazy, and damaged", entries: []entry{lazy(1, 2, 7, 70)}, now: states{7: {There: true, Sum: 70, Damaged: true}}, lost: 1, changed: []uint64{7}},
		{why: "what an earlier cut left is gone", before: states{7: is(70)}, now: states{7: is(1)}, lost: 1, changed: []uint64{7}},
		{why: "a lazy one is lost, and what was before, too", entries: []entry{lazy(1, 2, 7, 71)}, before: states{7: is(70)}, now: states{7: is(1)}, lost: 1, changed: []uint64{7}},
		{why: "a lazy one is lost, and what was before is there", entries: []entry{lazy(1, 2, 7, 71)}, before: states{7: is(70)}, now: states{7: is(70)}, lazy: 1, changed: []uint64{7}},
		{why: "a replacement tried again, of what an earlier cut took back", entries: []entry{unchanged(full(3, 4, 7, 70))}, before: states{7: {}}, now: states{}},
		{why: "notes of an earlier cut", entries: []entry{{Kind: lost, Number: 9}, {Kind: found, Number: 9}}, now: states{}},
	} {
		l := compare(c.entries, c.before, c.now)
		if commits(l.lost) != c.lost || commits(l.lazy) != c.lazy || !reflect.DeepEqual(l.changed, c.changed) || l.inDoubt != c.doubts || l.kept != c.kept {
			t.Errorf("%s: lost %d, lazy %d, changed %v, %d in doubt, %d kept; want %+v", c.why, commits(l.lost), commits(l.lazy), l.changed, l.inDoubt, l.kept, c)
		}
	}
}

// TestLeft: after the run every record is as its last acknowledged write left it, or as a cut did, or one in doubt
// since.
func TestLeft(t *testing.T) {
	at := func(k kind, n uint64, sum uint32) entry {
		return entry{Kind: k, Op: Replace, Changed: k == acknowledged, Number: n, Sum: sum}
	}
	gone := entry{Kind: found, Op: Delete, Number: 4}
	l := readLeft([]entry{
		at(acknowledged, 1, 10), at(acknowledged, 1, 11),
		at(acknowledged, 2, 20), at(doubtful, 2, 21),
		at(doubtful, 3, 30),
		at(acknowledged, 4, 40), at(lost, 4, 40), gone,
		at(doubtful, 5, 50), at(acknowledged, 5, 50),
		// Under way at a cut that took the record itself back, and then tried again.
		at(acknowledged, 6, 60), at(doubtful, 6, 61), at(lost, 6, 60), {Kind: found, Op: Delete, Number: 6}, {Kind: acknowledged, Op: Replace, Number: 6, Sum: 61},
	})
	is := func(sum uint32) state { return state{There: true, Sum: sum} }
	for _, c := range []struct {
		n    uint64
		is   state
		want bool
	}{
		{1, is(11), true}, {1, is(10), false}, {1, state{}, false},
		{2, is(20), true}, {2, is(21), true}, {2, state{}, false},
		{3, is(30), true}, {3, is(1), true}, {3, state{There: true, Damaged: true}, false},
		{4, state{}, true}, {4, is(40), false},
		{5, is(50), true}, {5, is(1), false},
		{6, state{}, true}, {6, is(61), false},
	} {
		assert.Equal(t, c.want, l.may(c.n, c.is), "record %d, %+v: %v", c.n, c.is, !c.want)
	}
	assert.True(t, len(l.lost) == 2 && len(l.lazy) == 0, "lost %v, lazy %v", l.lost, l.lazy)
}

// FuzzJournal reads what no ds2 wrote.
func FuzzJournal(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text []byte) {
		if all, err := readEntries(text, 0); err == nil {
			assert.LessOrEqual(t, len(all)*entrySize, len(text), "%d entries of %d bytes", len(all), len(text))
			compare(all, nil, map[uint64]state{})
			readLeft(all)
		}
	}, make([]byte, 2*entrySize))
}
