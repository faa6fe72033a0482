// Package books keeps the acknowledged work of DVD Store 2: the entries that its users note in the
// journal of a run, and what of them a database holds afterwards. The journal's file is the
// business of package durability.
package books

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"sync"

	"ds2/internal/workload"
	"ds2/internal/workload/ds2/calls"
)

// Header begins a journal, so that one of another version is not taken for this one's.
const Header = "ds2 journal 2\n"

// kind is what an entry of the journal is about.
type kind uint16

const (
	bought kind = iota // a purchase was acknowledged under an order's number
	// a purchase may have been made: the connection was lost before its end; no number
	doubtful
	registered // a new customer was acknowledged
)

// entry is one line of the journal. A server that lost an order may give its number to a later one,
// so the number alone does not tell whether an order is still the same.
type entry struct {
	Kind     kind
	Target   uint16
	Lines    uint16 // of a purchase
	Order    int64
	Customer int64
	Total    calls.Cents // of a purchase
	Name     uint64      // of a new customer: nameSum of the user name
}

// Size of an entry in the file, in bytes; big-endian.
var Size = binary.Size(entry{})

// nameSum stands for a user name.
func nameSum(name []byte) uint64 {
	h := fnv.New64a()
	h.Write(name)
	return h.Sum64()
}

// Books note what targets have acknowledged; nil ones note nothing. Users share them: a lock around
// a copy of 38 bytes once an order is nothing beside the order.
type Books struct {
	mu      sync.Mutex
	journal workload.Journal
	entry   entry // that is noted, and its line: nothing is allocated for one
	line    []byte
}

// New keeps books in a journal.
func New(j workload.Journal) *Books { return &Books{journal: j} }

// Bought notes that a target acknowledged the purchase p as an order. It keeps nothing of p.
func (b *Books) Bought(target int, order int64, p *calls.Purchase) {
	e := purchaseEntry(bought, p)
	e.Order = order
	b.noteEntry(target, e)
}

// InDoubt notes that it is unknown whether the purchase p was made.
func (b *Books) InDoubt(target int, p *calls.Purchase) {
	b.noteEntry(target, purchaseEntry(doubtful, p))
}

// Registered notes that a target acknowledged a new customer.
func (b *Books) Registered(target int, customer int64, username []byte) {
	b.noteEntry(target, entry{Kind: registered, Customer: customer, Name: nameSum(username)})
}

// purchaseEntry is the entry of a purchase, without its order's number, which one in doubt has not.
func purchaseEntry(k kind, p *calls.Purchase) entry {
	return entry{Kind: k, Lines: uint16(len(p.Items)), Customer: p.CustomerID, Total: p.Total}
}

// noteEntry writes an entry into the journal before it returns: the user's next operation begins
// only when what was acknowledged is noted.
func (b *Books) noteEntry(target int, e entry) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e.Target = uint16(target)
	b.entry = e
	b.line, _ = binary.Append(b.line[:0], binary.BigEndian, &b.entry)
	b.journal.Note(b.line)
}

// readEntries reads the entries that are of one target, in the order in which they were noted.
func readEntries(text []byte, target int) (all []entry, err error) {
	for ; len(text) >= Size; text = text[Size:] {
		var e entry
		_, _ = binary.Decode(text, binary.BigEndian, &e) // the text is long enough
		if e.Kind > registered {
			return nil, errors.New("read journal: an entry that ds2 does not write")
		}
		if int(e.Target) == target {
			all = append(all, e)
		}
	}
	return all, nil
}
