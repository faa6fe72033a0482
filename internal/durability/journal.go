// Package durability tries whether a store keeps what it has acknowledged: a journal of everything that a user was told
// of, cuts of the server in mid-run, and after each the comparison of the two. A drive or array that acknowledges
// writes which it does not hold is found so. Running users and the audit of everything else are other packages'.
package durability

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"sync"

	"ds2/internal/store"
)

// File is the journal's name in the record of a run.
const File = "acknowledged.bin"

// header begins a journal, so that one of another version is not taken for this one's.
var header = []byte("ds2 journal 2\n")

// kind is what an entry of the journal is about.
type kind uint16

const (
	bought     kind = iota // a purchase was acknowledged under an order's number
	doubtful               // a purchase may have been made: the connection was lost before its end; no number
	registered             // a new customer was acknowledged
)

// entry is one line of the journal. A server that lost an order may give its number to a later one, so the number alone
// does not tell whether an order is still the same.
type entry struct {
	Kind     kind
	Target   uint16
	Lines    uint16 // of a purchase
	Order    int64
	Customer int64
	Total    store.Cents // of a purchase
	Name     uint64      // of a new customer: nameSum of the user name
}

// size of an entry in the file, in bytes; big-endian.
var size = binary.Size(entry{})

// nameSum stands for a user name.
func nameSum(name []byte) uint64 {
	h := fnv.New64a()
	h.Write(name)
	return h.Sum64()
}

// Journal writes down what a store has acknowledged. Users share it: a lock around a copy of 38 bytes once an order is
// nothing beside the order.
type Journal struct {
	mu    sync.Mutex
	file  *os.File
	out   *bufio.Writer
	end   int64 // bytes written so far
	count int64 // purchases acknowledged
	err   error // the first

	sold map[int]map[int32]int64 // pieces acknowledged by target and product since Sold was asked
}

// Create begins a journal in a new file.
func Create(path string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	j := &Journal{file: file, out: bufio.NewWriterSize(file, 64<<10), sold: map[int]map[int32]int64{}}
	_, err = j.out.Write(header)
	j.end = int64(len(header))
	return j, err
}

// Bought notes that a target acknowledged the purchase p as an order. It keeps nothing of p.
func (j *Journal) Bought(target int, order int64, p *store.Purchase) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.write(entry{Kind: bought, Target: uint16(target), Lines: uint16(len(p.Items)), Order: order, Customer: p.CustomerID, Total: p.Total})
	j.count++
	sold := j.sold[target]
	if sold == nil {
		sold = map[int32]int64{}
		j.sold[target] = sold
	}
	for _, item := range p.Items {
		sold[item.Product] += int64(item.Quantity)
	}
}

// InDoubt notes that nobody knows whether the purchase p was made.
func (j *Journal) InDoubt(target int, p *store.Purchase) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.write(entry{Kind: doubtful, Target: uint16(target), Lines: uint16(len(p.Items)), Customer: p.CustomerID, Total: p.Total})
}

// Registered notes that a target acknowledged a new customer.
func (j *Journal) Registered(target int, customer int64, username []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.write(entry{Kind: registered, Target: uint16(target), Customer: customer, Name: nameSum(username)})
}

func (j *Journal) write(e entry) {
	b := j.out.AvailableBuffer()
	b = binary.BigEndian.AppendUint16(b, uint16(e.Kind))
	b = binary.BigEndian.AppendUint16(b, e.Target)
	b = binary.BigEndian.AppendUint16(b, e.Lines)
	b = binary.BigEndian.AppendUint64(b, uint64(e.Order))
	b = binary.BigEndian.AppendUint64(b, uint64(e.Customer))
	b = binary.BigEndian.AppendUint64(b, uint64(e.Total))
	b = binary.BigEndian.AppendUint64(b, e.Name)
	_, err := j.out.Write(b)
	j.end += int64(len(b))
	if j.err == nil {
		j.err = err
	}
}

// Count is how many purchases have been acknowledged.
func (j *Journal) Count() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.count
}

// Sync brings the journal to this machine's disk, and returns how long it is, in bytes.
func (j *Journal) Sync() (end int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := errors.Join(j.err, j.out.Flush(), j.file.Sync()); err != nil {
		return j.end, fmt.Errorf("write journal: %w", err)
	}
	return j.end, nil
}

// takeSold gives the pieces that a target has acknowledged by product since it was asked last.
func (j *Journal) takeSold(target int) map[int32]int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	sold := j.sold[target]
	delete(j.sold, target)
	return sold
}

// Close writes out what is left. Its error is the first that befell the journal.
func (j *Journal) Close() error {
	_, err := j.Sync()
	if closeErr := j.file.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("write journal: %w", closeErr)
	}
	return err
}

// read reads what a journal says of one target, in the order in which it was noted, from a byte on; 0 is the beginning.
func read(path string, target int, from int64) ([]entry, error) {
	fail := func(err error) ([]entry, error) { return nil, fmt.Errorf("read journal %s: %w", path, err) }
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer file.Close()
	start := make([]byte, len(header))
	if _, err := io.ReadFull(file, start); err != nil || !bytes.Equal(start, header) {
		return fail(errors.New("it is not a journal of this version of ds2"))
	}
	if from > int64(len(header)) {
		if _, err := file.Seek(from, io.SeekStart); err != nil {
			return fail(err)
		}
	}
	in := bufio.NewReaderSize(file, 64<<10)
	var all []entry
	line := make([]byte, size)
	for {
		if _, err := io.ReadFull(in, line); err == io.EOF {
			return all, nil
		} else if err != nil {
			return fail(err)
		}
		var e entry
		if _, err := binary.Decode(line, binary.BigEndian, &e); err != nil {
			return fail(err)
		}
		if e.Kind > registered {
			return fail(fmt.Errorf("an entry of unknown kind %d", e.Kind))
		}
		if int(e.Target) == target {
			all = append(all, e)
		}
	}
}

// of are the entries of a kind.
func of(k kind, all []entry) []entry {
	var some []entry
	for _, e := range all {
		if e.Kind == k {
			some = append(some, e)
		}
	}
	return some
}
