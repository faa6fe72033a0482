package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/zeebo/xxh3"
)

// Checksum is how a manifest knows the contents of its files again: one of the constants.
type Checksum string

// The checksums. XXH128 finds damage at the speed of memory, and `xxhsum -c` checks it too; SHA256 besides stands up to
// people who want to be fooled, and costs about as much as making the rows where the processor has no instructions for
// it.
const (
	XXH128 Checksum = "xxh128"
	SHA256 Checksum = "sha256"
)

// ParseChecksum reads a name of a checksum.
func ParseChecksum(s string) (Checksum, error) {
	switch c := Checksum(s); c {
	case XXH128, SHA256:
		return c, nil
	}
	return "", fmt.Errorf("invalid checksum %q: use xxh128 or sha256", s)
}

func (c Checksum) new() hash.Hash {
	if c == SHA256 {
		return sha256.New()
	}
	return xxh3.New128()
}

// sumText is a sum as xxhsum and sha256sum print it.
func sumText(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
