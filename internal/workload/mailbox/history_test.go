package mailbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/fuzztest"
	"ds2/internal/workload"
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
		return entry{Op: Replace, Changed: true, Number: n, Sum: sum, Sent: sent, Kind: doubtful}
	}
	of := func(op workload.Op, e entry) entry {
		e.Op = op
		return e
	}
	unchanged := func(e entry) entry {
		e.Changed = false
		return e
	}
	is := func(sum uint32) state { return state{There: true, Sum: sum} }
	type (
		states  = map[uint64]state
		entries = []entry
	)
	for _, c := range []struct {
		why         string
		entries     entries
		before, now states
		want        string // commits lost and lost lazily, numbers changed, transactions in doubt, and of these kept
	}{
		{"all there", entries{full(1, 2, 7, 70), lazy(3, 4, 8, 80)}, nil, states{7: is(70), 8: is(80)}, "0 0 [] 0 0"},
		{"a full one is lost", entries{full(1, 2, 7, 70)}, nil, states{7: is(1)}, "1 0 [7] 0 0"},
		{"the last lazy one is lost",
			entries{full(1, 2, 7, 70), lazy(3, 4, 8, 80)}, nil, states{7: is(70), 8: is(1)}, "0 1 [8] 0 0"},
		{"a lazy one before a full one is lost",
			entries{lazy(1, 2, 8, 80), full(3, 4, 7, 70)}, nil, states{7: is(70), 8: is(1)}, "1 0 [8] 0 0"},
		{"it was acknowledged while the full one was under way",
			entries{full(1, 4, 7, 70), lazy(2, 3, 8, 80)}, nil, states{7: is(70), 8: is(1)}, "0 1 [8] 0 0"},
		{"the full one after it had nothing to write",
			entries{lazy(1, 2, 8, 80), unchanged(of(Delete, full(3, 4, 7, 0)))}, nil, states{8: is(1)}, "0 1 [8] 0 0"},
		{"an insert is gone", entries{full(1, 2, 7, 70)}, nil, nil, "1 0 [7] 0 0"},
		{"a delete is undone", entries{of(Delete, full(1, 2, 7, 0))}, nil, states{7: is(1)}, "1 0 [7] 0 0"},
		{"a lazy write after a full one is lost",
			entries{full(1, 2, 7, 70), lazy(3, 4, 7, 71)}, nil, states{7: is(70)}, "0 1 [7] 0 0"},
		{"both are lost", entries{full(1, 2, 7, 70), lazy(3, 4, 7, 71)}, nil, states{7: is(1)}, "1 1 [7] 0 0"},
		{"in doubt and there", entries{full(1, 2, 7, 70), doubt(3, 7, 71)}, nil, states{7: is(71)}, "0 0 [] 1 1"},
		{"in doubt and not there", entries{full(1, 2, 7, 70), doubt(3, 7, 71)}, nil, states{7: is(70)}, "0 0 [] 1 0"},
		{"in doubt and tried again", entries{doubt(1, 7, 70), full(1, 2, 7, 70)}, nil, states{7: is(70)}, "0 0 [] 0 0"},
		{"in doubt and there in part",
			entries{doubt(1, 7, 70), doubt(1, 8, 80)}, nil, states{7: is(70), 8: is(1)}, "1 0 [] 1 0"},
		{"lazy and there in part",
			entries{lazy(1, 2, 7, 70), lazy(1, 2, 8, 80)}, nil, states{7: is(70), 8: is(1)}, "1 0 [8] 0 0"},
		{"lazy, in part an insert that was deleted",
			entries{of(Insert, lazy(1, 2, 7, 70)), lazy(1, 2, 8, 80), of(Delete, lazy(3, 4, 7, 0))},
			nil, states{8: is(1)}, "0 1 [8] 0 0"},
		{"lazy, and damaged",
			entries{lazy(1, 2, 7, 70)}, nil, states{7: {There: true, Sum: 70, Damaged: true}}, "1 0 [7] 0 0"},
		{"what an earlier cut left is gone", nil, states{7: is(70)}, states{7: is(1)}, "1 0 [7] 0 0"},
		{"a lazy one is lost, and what was before, too",
			entries{lazy(1, 2, 7, 71)}, states{7: is(70)}, states{7: is(1)}, "1 0 [7] 0 0"},
		{"a lazy one is lost, and what was before is there",
			entries{lazy(1, 2, 7, 71)}, states{7: is(70)}, states{7: is(70)}, "0 1 [7] 0 0"},
		{"a replacement tried again, of what an earlier cut took back",
			entries{unchanged(full(3, 4, 7, 70))}, states{7: {}}, nil, "0 0 [] 0 0"},
		{"notes of an earlier cut", entries{{Kind: lost, Number: 9}, {Kind: found, Number: 9}}, nil, nil, "0 0 [] 0 0"},
	} {
		l := compare(c.entries, c.before, c.now)
		found := fmt.Sprint(commits(l.lost), commits(l.lazy), l.changed, l.inDoubt, l.kept)
		assert.Equal(t, c.want, found, c.why)
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
		at(acknowledged, 6, 60), at(doubtful, 6, 61), at(lost, 6, 60),
		{Kind: found, Op: Delete, Number: 6}, {Kind: acknowledged, Op: Replace, Number: 6, Sum: 61},
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
