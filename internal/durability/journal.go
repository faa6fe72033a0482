// Package durability tries whether a store keeps what it has acknowledged: a journal of everything that a user was told
// of, cuts of the server in mid-run, and after each the comparison of the two. A drive or array that acknowledges
// writes which it does not hold is found so. Running users and the audit of everything else are other packages'.
package durability

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"ds2/internal/workload"
)

// File is the journal's name in the record of a run.
const File = "acknowledged.bin"

// Journal writes down what a store has acknowledged, as entries of the workload.
type Journal struct {
	mu    sync.Mutex
	file  *os.File
	out   *bufio.Writer
	end   int64 // bytes written so far
	count int64 // entries
	err   error // the first
}

// Create begins a journal in a new file with a header.
func Create(path, header string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	j := &Journal{file: file, out: bufio.NewWriterSize(file, 64<<10)}
	_, err = j.out.WriteString(header)
	j.end = int64(len(header))
	return j, err
}

// Note notes an entry. It keeps nothing of it.
func (j *Journal) Note(entry []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err := j.out.Write(entry)
	j.end += int64(len(entry))
	j.count++
	if j.err == nil {
		j.err = err
	}
}

// Count is how many entries have been noted.
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

// Close writes out what is left. Its error is the first that befell the journal.
func (j *Journal) Close() error {
	_, err := j.Sync()
	if closeErr := j.file.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("write journal: %w", closeErr)
	}
	return err
}

// Read reads the entries of a journal from a byte of its file on; 0 is the beginning.
func Read(path string, a workload.Acknowledger, from int64) ([]byte, error) {
	fail := func(err error) ([]byte, error) { return nil, fmt.Errorf("read journal %s: %w", path, err) }
	header, size := a.Journal()
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer file.Close()
	start := make([]byte, len(header))
	if _, err := io.ReadFull(file, start); err != nil || string(start) != header {
		return fail(errors.New("it is not a journal of this version of ds2"))
	}
	if from > int64(len(header)) {
		if _, err := file.Seek(from, io.SeekStart); err != nil {
			return fail(err)
		}
	}
	entries, err := io.ReadAll(file)
	if err != nil {
		return fail(err)
	}
	if len(entries)%size != 0 {
		return fail(io.ErrUnexpectedEOF)
	}
	return entries, nil
}
