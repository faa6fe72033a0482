// Package durability keeps a journal of everything that a store has acknowledged, to be compared
// with the store after an outage: a drive or array that acknowledges writes which it does not hold
// is found so. What brings the outage about, the comparison, running users and the audit of
// everything else are not its business.
package durability

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

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
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	if _, err = file.WriteString(header); err != nil {
		return nil, errors.Join(fmt.Errorf("create journal: %w", err), file.Close())
	}
	return &Journal{file: file}, nil
}

// Note notes an entry. It keeps nothing of it.
func (j *Journal) Note(entry []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		_, j.err = j.file.Write(entry)
	}
}

// Close brings the journal to this machine's disk. Its error is the first that befell the journal.
func (j *Journal) Close() error {
	if err := errors.Join(j.err, j.file.Sync(), j.file.Close()); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// Read reads the entries of the journals of one run, of which each driver machine has one.
func Read(a workload.Acknowledger, paths ...string) (all []byte, err error) {
	header, size := a.Journal()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		entries, ok := bytes.CutPrefix(text, []byte(header))
		switch {
		case !ok:
			err = errors.New("it is not a journal of this version of ds2")
		case len(entries)%size != 0:
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, fmt.Errorf("read journal %s: %w", path, err)
		}
		all = append(all, entries...)
	}
	return all, nil
}
