// Package durability keeps a journal of everything that a store has acknowledged, to be compared
// with the store after an outage: a drive or array that acknowledges writes which it does not hold
// is found so. What brings the outage about, the comparison, running users and the audit of
// everything else are not its business.
package durability

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"

	"ds2/internal/result"
	"ds2/internal/workload"
)

// File is the journal's name in the record of a run.
const File = "acknowledged.bin"

// Journal writes down what a store has acknowledged, as entries of the workload. Each goes to the
// operating system as it is noted, so that nothing of the journal is lost with ds2; it is lost with
// the power of this machine.
type Journal struct {
	file *os.File
	mu   sync.Mutex
	err  error // the first
}

// Create begins a journal in a new file with a header.
func Create(path, header string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(header)
	}
	if err != nil {
		return nil, result.OfRecord("create journal", errors.Join(err, file.Close()))
	}
	return &Journal{file: file}, nil
}

// Note notes an entry. It keeps nothing of it. After an error nothing more is written, so that the
// journal has no hole: what it ends with is what the store acknowledged until then.
func (j *Journal) Note(entry []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		_, j.err = j.file.Write(entry)
	}
}

// Close brings the journal to this machine's disk. Its error is the first that befell the journal.
func (j *Journal) Close() error {
	return result.OfRecord("write journal", errors.Join(j.err, j.file.Sync(), j.file.Close()))
}

// Read reads the entries of the journals of one run, of which each driver machine has one. Where a
// machine lost its power, a journal may end within an entry: torn are the bytes of those, which are
// of no use.
func Read(a workload.Acknowledger, paths ...string) (all []byte, torn int, err error) {
	header, size := a.Journal()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, 0, fmt.Errorf("read journal: %w", err)
		}
		entries, ok := bytes.CutPrefix(text, []byte(header))
		if !ok {
			return nil, 0, fmt.Errorf("read journal %s: it is not a journal of this version of ds2",
				path)
		}
		whole := entries[:len(entries)-len(entries)%size]
		// A file system may have kept the length of what it lost, as zeros.
		for n := len(whole) - size; n >= 0 && len(bytes.Trim(whole[n:], "\x00")) == 0; n -= size {
			whole = whole[:n]
		}
		torn += len(entries) - len(whole)
		all = append(all, whole...)
	}
	return all, torn, nil
}
