package mailbox

import (
	"math/bits"
	"math/rand/v2"
)

// Live is which records of a database exist, as the driver knows it: a bit for each number that a
// record ever had. The numbers are divided among the users, number n to user n mod users, so that
// no two users touch one record and none is missed. A database of 7 million records takes about 2
// MB.
type Live struct {
	shares []Share
}

// NewLive is the records of a database before any is known, for its users.
func NewLive(users int) *Live {
	l := &Live{make([]Share, users)}
	for i := range l.shares {
		l.shares[i] = Share{first: uint64(i), step: uint64(users), doubt: map[uint64]bool{}}
	}
	return l
}

// ShareOf is the part of the records that a user works on.
func (l *Live) ShareOf(user int) *Share { return &l.shares[user] }

// shareWith is the share that a number belongs to, whether a record ever had it or not.
func (l *Live) shareWith(n uint64) *Share { return &l.shares[n%uint64(len(l.shares))] }

// AddRecord notes that record n is there.
func (l *Live) AddRecord(n uint64) { l.shareWith(n).addRecord(n) }

// CountRecords is the number of records that are there.
func (l *Live) CountRecords() (n int64) {
	for i := range l.shares {
		n += l.shares[i].records
	}
	return n
}

// EndOfNumbers is one more than the highest number that any record ever had.
func (l *Live) EndOfNumbers() (end uint64) {
	for i := range l.shares {
		if s := &l.shares[i]; s.end > 0 {
			end = max(end, s.numberAt(s.end-1)+1)
		}
	}
	return end
}

// HasRecord says whether record n is there.
func (l *Live) HasRecord(n uint64) bool {
	return hasBit(l.shareWith(n).live, n/uint64(len(l.shares)))
}

// WasWritten says whether record n was written since the run began.
func (l *Live) WasWritten(n uint64) bool {
	return hasBit(l.shareWith(n).written, n/uint64(len(l.shares)))
}

// InDoubt says whether it is unknown if record n exists.
func (l *Live) InDoubt(n uint64) bool { return l.shareWith(n).doubt[n] }

// Share is the records of one user. It belongs to one goroutine.
type Share struct {
	first, step   uint64 // its numbers are first, first + step, first + 2 step, ...
	live, written []uint64
	end           uint64 // places that a record ever had
	records       int64
	doubt         map[uint64]bool

	_ [64]byte // keeps the next user's counts off this cache line
}

// numberAt is the number at a place of the share's bits: the inverse of n / step.
func (s *Share) numberAt(place uint64) uint64 { return s.first + place*s.step }

// addRecord adds a record with the place that its number has.
func (s *Share) addRecord(n uint64) {
	place := n / s.step
	if !hasBit(s.live, place) {
		s.live = setBit(s.live, place)
		s.records++
	}
	s.end = max(s.end, place+1)
}

// FreshNumber is a number that no record ever had; it exists from Insert on.
func (s *Share) FreshNumber() uint64 { return s.numberAt(s.end) }

// tries is how many numbers are drawn before a record is looked for: with one number in 20 still in
// use, they find one in 19 of 20 cases.
const tries = 64

// PickRecord draws a record, each with the same chance; false where there is none.
func (s *Share) PickRecord(r *rand.Rand) (n uint64, ok bool) {
	if s.records == 0 {
		return 0, false
	}
	for range tries {
		if place := r.Uint64N(s.end); hasBit(s.live, place) {
			return s.numberAt(place), true
		}
	}
	// Few are left. The next one after a random place is nearly as good.
	words := uint64(len(s.live))
	for i, w := r.Uint64N(words), uint64(0); w <= words; i, w = (i+1)%words, w+1 {
		if word := s.live[i]; word != 0 {
			for skip := r.IntN(bits.OnesCount64(word)); skip > 0; skip-- {
				word &= word - 1
			}
			return s.numberAt(i*64 + uint64(bits.TrailingZeros64(word))), true
		}
	}
	return 0, false
}

// NoteInsert notes a record with a fresh number.
func (s *Share) NoteInsert(n uint64) {
	s.addRecord(n)
	s.NoteReplace(n)
}

// NoteReplace notes that a record was written.
func (s *Share) NoteReplace(n uint64) { s.written = setBit(s.written, n/s.step) }

// NoteDelete notes that a record is gone.
func (s *Share) NoteDelete(n uint64) {
	place := n / s.step
	s.live[place/64] &^= 1 << (place % 64)
	s.records--
}

// NoteDoubt notes that the outcome of the record's last insertion or deletion is unknown: it is not
// touched again.
func (s *Share) NoteDoubt(n uint64) {
	s.doubt[n] = true
	s.end = max(s.end, n/s.step+1) // not fresh any more
	if hasBit(s.live, n/s.step) {
		s.NoteDelete(n)
	}
}

// hasBit tells whether the bit of a place is set; of places beyond the end none is.
func hasBit(places []uint64, place uint64) bool {
	return place/64 < uint64(len(places)) && places[place/64]&(1<<(place%64)) != 0
}

// setBit sets the bit of a place; append makes room for more at a time.
func setBit(places []uint64, place uint64) []uint64 {
	if need := int(place/64) + 1; need > len(places) {
		places = append(places, make([]uint64, need-len(places))...)
	}
	places[place/64] |= 1 << (place % 64)
	return places
}
