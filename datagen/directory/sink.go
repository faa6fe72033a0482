package directory

import (
	"errors"
	"fmt"
	"syscall"

	"ds2/internal/atomicfile"
)

// sink is a file being written, and what its manifest's entry will say.
type sink struct {
	work    *work
	file    *atomicfile.File
	path    string
	written content
	begun   int64 // of its bytes, that the kernel was told to write to the disk
}

// writeBackSpan is how many bytes the kernel is told to write to the disk at once.
const writeBackSpan = 8 << 20

// writeBlock writes a block behind the last one, and takes it into count and checksum while the
// cache still holds it.
func (s *sink) writeBlock(p []byte) error {
	if _, err := s.file.Write(p); err != nil {
		return s.explainFull(err)
	}
	s.written.Write(p)
	if span := s.written.bytes - s.begun; span >= writeBackSpan {
		writeBack(s.file.File, s.begun, span)
		s.begun = s.written.bytes
	}
	s.work.need.Add(-int64(len(p)))
	s.work.progress(int64(len(p)))
	return nil
}

// explainFull explains a full disk; other errors name the file already.
func (s *sink) explainFull(err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return fmt.Errorf("write %s: the disk is full: about %d bytes more are needed for the whole dataset; free them, and resume",
		s.path, max(s.work.need.Load(), 1))
}
