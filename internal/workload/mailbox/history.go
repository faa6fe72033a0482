package mailbox

import (
	"maps"
	"slices"
)

// state is what a database holds under the number of a record.
type state struct {
	There   bool
	Sum     uint32 // of what is there
	Damaged bool   // what is there is not what its sum says
}

// after is the state that a write leaves. A replacement that found nothing to replace, which a transaction has that a
// cut took the record from before it was tried again, leaves nothing.
func (e entry) after() state {
	if e.Op == Delete || e.Op == Replace && e.Kind == acknowledged && !e.Changed {
		return state{}
	}
	return state{There: true, Sum: e.Sum}
}

// loss is what a comparison of acknowledged work with a database finds.
type loss struct {
	lost    []entry // writes that the server had to keep and did not: acknowledged, or of a transaction there in part
	lazy    []entry // acknowledged writes that it did not keep, and did not have to
	held    map[uint64]state
	gone    []entry  // writes in doubt that it did not keep
	changed []uint64 // numbers of the records that are not as the last acknowledgement left them

	acknowledged, inDoubt, kept int64 // transactions; those in doubt of which all is there
}

// compare compares what was acknowledged since the last cut, with nobody at work since the server came back, with what
// it holds. before is what records held then that no entry tells, where that is known.
//
// A server has to keep what it acknowledged fully. Its log is written in order, so it also has to keep what it
// acknowledged lazily before an acknowledged full commit was sent.
func compare(entries []entry, before, now map[uint64]state) loss {
	l := loss{held: map[uint64]state{}}
	flushed, writes, parts := uint64(0), map[uint64][]entry{}, map[uint64]*transaction{}
	for _, e := range entries {
		if e.Kind > doubtful {
			continue
		}
		if e.Kind == acknowledged && !e.Lazy && e.Changed {
			flushed = max(flushed, e.Sent)
		}
		writes[e.Number] = append(writes[e.Number], e)
	}
	for _, n := range slices.Sorted(maps.Keys(writes)) {
		l.record(writes[n], before, now, flushed, parts)
	}
	for n, was := range before { // that nobody wrote since
		if _, written := l.held[n]; written {
			continue
		}
		if is := now[n]; is != was {
			l.lost = append(l.lost, entry{Kind: acknowledged, Number: n, Sum: was.Sum, Op: Replace})
			l.changed = append(l.changed, n)
			l.held[n] = is
		}
	}
	for _, t := range parts {
		if t.acknowledged {
			l.acknowledged++
		} else {
			l.inDoubt++
			if t.gone == 0 {
				l.kept++
			}
		}
	}
	torn := func(e entry) bool { return parts[e.Sent].there > 0 }
	for _, e := range slices.Concat(l.lazy, l.gone) {
		if torn(e) {
			l.lost = append(l.lost, e)
		}
	}
	l.lazy = slices.DeleteFunc(l.lazy, torn)
	return l
}

// transaction is how many of a transaction's writes are there.
type transaction struct {
	there, gone  int
	acknowledged bool
}

// record compares the writes of one record, in their order.
func (l *loss) record(writes []entry, before, now map[uint64]state, flushed uint64, parts map[uint64]*transaction) {
	n := writes[0].Number
	is := now[n]
	l.held[n] = is
	last, reached := -1, -1 // the last write that was acknowledged, and the last that is there
	for i, e := range writes {
		if e.Kind == acknowledged {
			last = i
		}
		if e.after() == is {
			reached = i
		}
	}
	was, known := before[n]
	// Where all of the writes leave what was there before, as an insert and a delete do, nobody can tell whether they
	// took place.
	vague := reached >= 0 && (known && is == was || writes[0].Op == Insert && !is.There)
	strange := reached < 0 && (is.Damaged || known && is != was)
	if reached < last {
		l.changed = append(l.changed, n)
	}
	for i, e := range writes {
		t := parts[e.Sent]
		if t == nil {
			t = &transaction{}
			parts[e.Sent] = t
		}
		t.acknowledged = t.acknowledged || e.Kind == acknowledged
		if i <= reached {
			if !vague && (e.Kind == acknowledged || i == reached) { // else a later write hides whether it was there
				t.there++
			}
			continue
		}
		t.gone++
		switch {
		case e.Kind == doubtful:
			l.gone = append(l.gone, e)
		case !e.Lazy || e.Acked < flushed || strange:
			l.lost = append(l.lost, e)
		default:
			l.lazy = append(l.lazy, e)
		}
	}
}

// commits is how many transactions entries are of. Those whose transaction nobody knows count for one each.
func commits(entries []entry) (n int64) {
	sent := map[uint64]struct{}{}
	for _, e := range entries {
		if e.Sent == 0 {
			n++
		} else {
			sent[e.Sent] = struct{}{}
		}
	}
	return n + int64(len(sent))
}

// left is in what state a run left each record that it wrote, as far as its journal says, and which of its writes cuts
// took back.
type left struct {
	last map[uint64]state   // as it was acknowledged last, or found after a cut
	or   map[uint64][]state // as it may be besides, for writes in doubt since

	lost, lazy []entry
}

func readLeft(entries []entry) left {
	l := left{last: map[uint64]state{}, or: map[uint64][]state{}}
	for _, e := range entries {
		switch {
		case e.Kind == doubtful:
			l.or[e.Number] = append(l.or[e.Number], e.after())
		case e.Kind == lost && e.Lazy:
			l.lazy = append(l.lazy, e)
		case e.Kind == lost:
			l.lost = append(l.lost, e)
		default:
			l.last[e.Number] = e.after()
			delete(l.or, e.Number)
		}
	}
	return l
}

// may says whether a record may be in a state.
func (l left) may(n uint64, is state) bool {
	last, known := l.last[n]
	return is == last && known || slices.Contains(l.or[n], is) || !known && !is.Damaged
}
