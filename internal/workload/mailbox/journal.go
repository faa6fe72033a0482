package mailbox

import (
	"encoding/binary"
	"sync/atomic"

	"ds2/internal/workload"
)

// journalHeader begins a journal, so that one of another version or workload is not taken for this one's.
const journalHeader = "ds2 mailbox journal 1\n"

// kind is what an entry of the journal says of a record.
type kind uint8

const (
	acknowledged kind = iota // a transaction that wrote it was acknowledged
	doubtful                 // one may have been committed: the connection was lost before its end
	lost                     // a cut took an acknowledged write back
	found                    // what the database held after a cut that did
	lastKind     = found
)

// entry is what the journal says of one record that a transaction wrote.
type entry struct {
	Kind    kind
	Op      workload.Op // Insert, Replace or Delete; Read: the record was as it is in the database, whoever wrote it
	Lazy    bool        // its commit did not wait for the log
	Changed bool        // the server found something to change, so that the transaction had a commit to write
	Target  uint16
	Sum     uint32 // of the record as it was written
	Number  uint64 // of the record

	// Sent and Acked are the times of a clock that counts what all users of the run send and are told. Sent names the
	// transaction.
	Sent, Acked uint64
}

// entrySize is the size of an entry in the file, in bytes; big-endian.
var entrySize = binary.Size(entry{})

// keeper notes what the targets of a run acknowledge.
type keeper struct {
	journal workload.Journal
	clock   atomic.Uint64
}

// send is the time at which a transaction is sent; 0 where nobody keeps a journal.
func (k *keeper) send() uint64 {
	if k == nil {
		return 0
	}
	return k.clock.Add(1)
}

// note notes what a transaction of a user wrote.
func (k *keeper) note(kind kind, u *user) {
	if k == nil {
		return
	}
	e := &u.entry
	*e = entry{Kind: kind, Lazy: u.lazy, Target: u.target, Sent: u.sent}
	if kind == acknowledged {
		e.Acked = k.clock.Add(1)
	}
	for i := range u.steps {
		s := &u.steps[i]
		if e.Op = s.Op; e.Op == Read {
			continue
		}
		e.Number, e.Sum, e.Changed = s.Number, s.Record.Sum, s.Found
		k.journal.Note(e.append(u.line[:0]))
	}
}

func (e *entry) append(b []byte) []byte {
	b, _ = binary.Append(b, binary.BigEndian, e)
	return b
}

func readEntries(text []byte, target int) ([]entry, error) {
	return workload.ReadEntries(text, target, func(e *entry) (uint16, bool) {
		return e.Target, e.Kind <= lastKind && e.Op <= Delete && e.Number < mostNumber
	})
}
