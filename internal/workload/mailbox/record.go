package mailbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"
)

// BodySize is the bytes of a record's body: two records do not fit into a page of 8 KB, so that
// each has one of its own.
const BodySize = 7000

// foldersOfMailbox is how many folders a mailbox has.
const foldersOfMailbox = 10

// Shape is what the records of a database depend on: any of them can be made again of its number
// and its flags.
type Shape struct {
	Mailboxes int
	Seed      uint64 // each database has its own, so that storage gains nothing by deduplication
}

// Key is the primary key of a record.
type Key struct {
	Mailbox int32 // from 1 on
	Folder  int16 // from 1 on
	Message int64
}

// Record is a record as a database holds it. Flags are drawn anew each time it is written.
type Record struct {
	Key
	Flags uint32
	Sum   uint32 // CRC-32C of key, flags and body
	Body  []byte

	head [18]byte // of what the sum is computed from
}

// KeyOf is the key of record n. Message is a bijection of n that looks random, so that neighbors in
// time lie on leaves of the index that are far apart.
func (s Shape) KeyOf(n uint64) Key {
	message := mixBits(n + mixBits(s.Seed))
	place := mixBits(message ^ s.Seed)
	mailbox, rest := bits.Mul64(place, uint64(s.Mailboxes))
	folder, _ := bits.Mul64(rest, foldersOfMailbox)
	return Key{int32(1 + mailbox), int16(1 + folder), int64(message)}
}

// NumberOf is the number of the record with the message's id.
func (s Shape) NumberOf(message int64) uint64 {
	return unmixBits(uint64(message)) - mixBits(s.Seed)
}

// FillRecord makes the record of a number and flags. Its body is written to r.Body, which is used
// again where it has the room.
func (s Shape) FillRecord(r *Record, n uint64, flags uint32) {
	r.Key = s.KeyOf(n)
	r.Flags = flags
	r.Body = slices.Grow(r.Body[:0], BodySize)[:BodySize]
	fillBody(r.Body, mixBits(s.Seed^0x6d61696c626f78)^mixBits(n)^uint64(flags)<<32)
	r.Sum = r.computeSum()
}

// fillBody fills a body with the numbers of wyrand (Wang Yi, 2019): one product for every 8 bytes.
func fillBody(body []byte, state uint64) {
	const step, key = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	for ; len(body) >= 8; body = body[8:] {
		state += step
		high, low := bits.Mul64(state, state^key)
		binary.LittleEndian.PutUint64(body, high^low)
	}
}

// ErrDamaged is what Check finds where a record is not what was written.
var ErrDamaged = errors.New("the record's checksum does not match its contents")

// CheckSum is ErrDamaged where the body does not match the checksum.
func (r *Record) CheckSum() error {
	if len(r.Body) != BodySize {
		return fmt.Errorf("%w: its body has %d bytes, not %d", ErrDamaged, len(r.Body), BodySize)
	}
	if r.computeSum() != r.Sum {
		return ErrDamaged
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// computeSum is the CRC-32C of key, flags and body, by which an audit finds a record that lies
// under another's key as well as one whose bytes changed.
func (r *Record) computeSum() uint32 {
	head := r.head[:]
	binary.BigEndian.PutUint32(head[0:], uint32(r.Mailbox))
	binary.BigEndian.PutUint16(head[4:], uint16(r.Folder))
	binary.BigEndian.PutUint64(head[6:], uint64(r.Message))
	binary.BigEndian.PutUint32(head[14:], r.Flags)
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, r.Body)
}

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014), which is a bijection, and its inverse.
const (
	factor1  = 0xbf58476d1ce4e5b9
	factor2  = 0x94d049bb133111eb
	inverse1 = 0x96de1b173f119089 // of factor1, modulo 2^64
	inverse2 = 0x319642b2d24d8ec3
)

// mixBits scatters neighbours over all 64 bits, each number to another one.
func mixBits(z uint64) uint64 {
	z = (z ^ z>>30) * factor1
	z = (z ^ z>>27) * factor2
	return z ^ z>>31
}

// unmixBits undoes it, step by step from the last on.
func unmixBits(z uint64) uint64 {
	z = (z ^ z>>31 ^ z>>62) * inverse2
	z = (z ^ z>>27 ^ z>>54) * inverse1
	return z ^ z>>30 ^ z>>60
}
