// Package durability tries whether a store keeps what it has acknowledged: a journal of every purchase that a user was told
// of, a crash of the server in mid-run, and afterwards the comparison of the two. A drive or array that acknowledges
// writes which it does not hold is found so. Running users and the audit of everything else are other packages'.
package durability

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"ds2/internal/store"
)

// File is the journal's name in the record of a run.
const File = "acknowledged.bin"

// purchase is an acknowledged purchase that was not rolled back. A server that lost an order may give its number to a
// later one, so the number alone does not tell whether an order is still the same.
type purchase struct {
	Order    int64
	Customer int64
	Total    store.Cents
	Lines    uint16
	Target   uint16
}

// size of a purchase in the file, in bytes; big-endian.
var size = binary.Size(purchase{})

// Journal writes down acknowledged purchases. Users share it: a lock around a copy of 28 bytes once an order is nothing
// beside the order.
type Journal struct {
	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer
	err  error // the first
}

// Create begins a journal in a new file.
func Create(path string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	return &Journal{file: file, out: bufio.NewWriterSize(file, 64<<10)}, nil
}

// Acknowledged notes that a target acknowledged the purchase p as an order. It keeps nothing of p.
func (j *Journal) Acknowledged(target int, order int64, p *store.Purchase) {
	entry := purchase{order, p.CustomerID, p.Total, uint16(len(p.Items)), uint16(target)}
	j.mu.Lock()
	defer j.mu.Unlock()
	text, err := binary.Append(j.out.AvailableBuffer(), binary.BigEndian, entry)
	if err == nil {
		_, err = j.out.Write(text)
	}
	if j.err == nil {
		j.err = err
	}
}

// Close writes out what is left. Its error is the first that befell the journal.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := errors.Join(j.err, j.out.Flush(), j.file.Close()); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// read reads what a journal says of one target, in the order in which it was acknowledged.
func read(path string, target int) ([]purchase, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	var all []purchase
	entry := make([]byte, size)
	for {
		if _, err := io.ReadFull(in, entry); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		var p purchase
		if _, err := binary.Decode(entry, binary.BigEndian, &p); err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		if int(p.Target) == target {
			all = append(all, p)
		}
	}
}
