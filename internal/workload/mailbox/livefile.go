package mailbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"ds2/internal/atomicfile"
)

// A run's record holds for each target which records exist at the end of the run, for the audit: a
// header of a name, the number of records in doubt and that of numbers, then the numbers in doubt,
// then two bits for each number, live and written, and a CRC-32C of all before it. Integers are
// little-endian.

const liveHeader = "ds2 mailbox records 1\n"

// liveFile is the file of a target in the directory of a run's record.
func liveFile(dir string, target int) string {
	return filepath.Join(dir, fmt.Sprintf("mailbox-records-%d.bin", target))
}

// SaveRecords writes the records of a target into the directory of a run's record.
func (l *Live) SaveRecords(dir string, target int) error {
	var doubt []uint64
	for i := range l.shares {
		doubt = slices.AppendSeq(doubt, maps.Keys(l.shares[i].doubt))
	}
	end := l.EndOfNumbers()
	numbers := append([]uint64{uint64(len(doubt)), end}, doubt...)
	b, err := binary.Append([]byte(liveHeader), binary.LittleEndian, numbers)
	if err != nil {
		return err
	}
	places := make([]byte, (end+3)/4)
	for n := range end {
		if l.HasRecord(n) {
			places[n/4] |= 1 << (n % 4 * 2)
		}
		if l.WasWritten(n) {
			places[n/4] |= 2 << (n % 4 * 2)
		}
	}
	b = append(b, places...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return atomicfile.Write(liveFile(dir, target), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// errLiveFile is what LoadLive finds in a file that is not whole.
var errLiveFile = errors.New("it is not whole")

// LoadLive reads what a run noted of a target, from the directory of its record.
func LoadLive(dir string, target int) (*Live, error) {
	name := liveFile(dir, target)
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the records of the run: %w", err)
	}
	l, err := parseLive(b)
	if err != nil {
		return nil, fmt.Errorf("read the records of the run: %s: %w", name, err)
	}
	return l, nil
}

// parseLive reads the file as SaveRecords writes it, as one share. The lengths are checked before
// anything is allocated by them: the file may be cut off or another's.
func parseLive(b []byte) (*Live, error) {
	var head struct {
		Name        [len(liveHeader)]byte
		Doubts, End uint64
	}
	n, err := binary.Decode(b, binary.LittleEndian, &head)
	if err != nil || len(b) < n+4 || string(head.Name[:]) != liveHeader {
		return nil, errLiveFile
	}
	body := b[:len(b)-4]
	rest := body[n:]
	length := uint64(len(rest))
	whole := head.Doubts <= length/8 && head.End <= 4*length &&
		length == 8*head.Doubts+(head.End+3)/4
	sum := binary.LittleEndian.Uint32(b[len(body):])
	if !whole || crc32.Checksum(body, castagnoli) != sum {
		return nil, errLiveFile
	}
	l := NewLive(1)
	s := l.ShareOf(0)
	s.end = head.End
	places := rest[8*head.Doubts:]
	for n := range head.End {
		two := places[n/4] >> (n % 4 * 2)
		if two&1 != 0 {
			s.addRecord(n)
		}
		if two&2 != 0 {
			s.NoteReplace(n)
		}
	}
	for i := range head.Doubts {
		n := binary.LittleEndian.Uint64(rest[8*i:])
		if n >= head.End {
			return nil, errLiveFile
		}
		s.NoteDoubt(n)
	}
	return l, nil
}
