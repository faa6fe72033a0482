package directory

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ds2/datagen"
)

// Shard is one of Count machines that make a dataset together, counted from 1. Each makes some of
// the files whole.
type Shard struct{ Index, Count int }

// Whole is the shard of one machine that makes everything.
var Whole = Shard{1, 1}

// ParseShard reads a shard such as 3/16, or 2-of-16, which counts from 0 and is the same.
func ParseShard(s string) (Shard, error) {
	index, count, fromZero := strings.Cut(s, "-of-")
	if !fromZero {
		index, count, _ = strings.Cut(s, "/")
	}
	i, err1 := strconv.ParseUint(index, 10, 16)
	n, err2 := strconv.ParseUint(count, 10, 16)
	shard := Shard{int(i), int(n)}
	if fromZero {
		shard.Index++
	}
	if err1 != nil || err2 != nil || shard.checkRange() != nil {
		return Shard{}, fmt.Errorf("invalid shard %q: write 3/16 for the third of sixteen, or 2-of-16; at most %d, one per file", s, len(fileNames))
	}
	return shard, nil
}

// checkRange refuses a shard that does not exist, and more shards than there are files: some would
// have none.
func (s Shard) checkRange() error {
	if s.Index < 1 || s.Index > s.Count || s.Count > len(fileNames) {
		return fmt.Errorf("invalid shard %v", s)
	}
	return nil
}

// String gives the shard as ParseShard reads it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// MarshalText writes the shard into a manifest.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads it.
func (s *Shard) UnmarshalText(text []byte) (err error) {
	*s, err = ParseShard(string(text))
	return err
}

// pickFiles picks the shard's files: dealt out from the largest down, each to the shard that has
// the fewest bytes so far, so that every machine finds the same answer and they end at about the
// same time.
func (s Shard) pickFiles(files []datagen.File) []datagen.File {
	bySize := slices.Clone(files)
	slices.SortStableFunc(bySize, func(a, b datagen.File) int {
		return cmp.Compare(b.Bytes(), a.Bytes())
	})
	dealt := make([]int64, s.Count)
	mine := map[string]bool{}
	for _, f := range bySize {
		least := slices.Index(dealt, slices.Min(dealt))
		dealt[least] += f.Bytes() + 1 // an empty file is work too
		mine[f.Name] = least == s.Index-1
	}
	return slices.DeleteFunc(slices.Clone(files), func(f datagen.File) bool {
		return !mine[f.Name]
	})
}
