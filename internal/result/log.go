package result

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// OlderLogFile is where the log goes on from when it has grown to maxLog bytes: the log of a run of
// days with a fault in every second takes no more than twice that, where files can be renamed, and
// has the newest messages.
const OlderLogFile = LogFile + ".1"

const maxLog = 1 << 20

// logFile is a run's log, turned over when it has grown too long. Many goroutines may write.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int
}

func createLog(path string) (*logFile, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, created(err)
	}
	return &logFile{path: path, file: file}, nil
}

// Write appends a message, whole, to one of the files.
func (l *logFile) Write(message []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+len(message) > maxLog {
		if err := l.turnOver(); err != nil {
			return 0, fmt.Errorf("turn over log: %w", err)
		}
	}
	n, err := l.file.Write(message)
	l.size += n
	return n, err
}

func (l *logFile) turnOver() error {
	if err := l.file.Close(); err != nil {
		return err
	}
	// Where another program has it open, on Windows, it keeps its name and grows on.
	_ = os.Rename(l.path, filepath.Join(filepath.Dir(l.path), OlderLogFile))
	l.size = 0
	var err error
	l.file, err = os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	return err
}

// close closes the file; of one that could not be created it does nothing.
func (l *logFile) close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return written(l.file.Close())
}

// Bounds of the log in a summary: its last lines.
const (
	logTail  = 64 << 10
	logLines = 200
)

// ReadLog reads the last lines of the log of the record in dir; none where there is no log.
func ReadLog(dir string) []string {
	var text []byte
	for _, name := range []string{OlderLogFile, LogFile} {
		file, _ := os.ReadFile(filepath.Join(dir, name)) // some maxLog bytes, or none
		text = append(text, file...)
	}
	if len(text) > logTail {
		_, text, _ = bytes.Cut(text[len(text)-logTail:], []byte("\n"))
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	return lines[max(0, len(lines)-logLines):]
}
