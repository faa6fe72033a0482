package result

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Bounds of the log in a summary: its last lines.
const (
	logTail  = 64 << 10
	logLines = 200
)

// ReadLog reads the last lines of the log of the record in dir; none where there is no log.
func ReadLog(dir string) []string {
	file, err := os.Open(filepath.Join(dir, LogFile))
	if err != nil {
		return nil
	}
	defer file.Close()
	cut := false
	if info, err := file.Stat(); err == nil && info.Size() > logTail {
		_, err = file.Seek(-logTail, io.SeekEnd)
		cut = err == nil
	}
	text, _ := io.ReadAll(io.LimitReader(file, logTail))
	if cut {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	return lines[max(0, len(lines)-logLines):]
}
