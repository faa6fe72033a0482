package sampling

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestHelps: each figure stands once in the list, in order, with a sentence, and the figures that
// are made here are in it.
func TestHelps(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(figuresTable), "\n")
	assert.True(t, slices.IsSorted(lines))
	assert.Len(t, helps, len(lines))
	for _, line := range lines {
		assert.Regexp(t, `^[a-z0-9_]+\t[A-Z0-9].*\.$`, line)
	}
	for _, k := range slices.Concat(diskKinds, windowsDiskKinds, cpuKinds, capKinds, linkKinds(1)) {
		assert.Equal(t, k.figure != "", helps[k.figure] != "", "%s", k.figure)
	}
}
