package mailbox

import (
	"encoding/binary"
	"errors"
	"fmt"
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

	// Sent and Acked are the times of a clock that counts what all users of the run send and are told. Sent names the transaction.
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
	e := entry{Kind: kind, Lazy: u.lazy, Target: u.target, Sent: u.sent}
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

// append appends the entry as it stands in the file.
func (e entry) append(b []byte) []byte {
	b = append(b, byte(e.Kind), byte(e.Op), bit(e.Lazy), bit(e.Changed))
	b = binary.BigEndian.AppendUint16(b, e.Target)
	b = binary.BigEndian.AppendUint32(b, e.Sum)
	b = binary.BigEndian.AppendUint64(b, e.Number)
	b = binary.BigEndian.AppendUint64(b, e.Sent)
	return binary.BigEndian.AppendUint64(b, e.Acked)
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// errEntry is an entry that no ds2 writes.
var errEntry = errors.New("an entry that ds2 does not write")

// readEntries reads what entries say of one target, in the order in which they were noted.
func readEntries(text []byte, target int) ([]entry, error) {
	var all []entry
	for ; len(text) >= entrySize; text = text[entrySize:] {
		var e entry
		if _, err := binary.Decode(text, binary.BigEndian, &e); err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		if e.Kind > lastKind || e.Op > Delete || e.Number >= mostNumber {
			return nil, fmt.Errorf("read journal: %w", errEntry)
		}
		if int(e.Target) == target {
			all = append(all, e)
		}
	}
	return all, nil
}
