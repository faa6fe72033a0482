package sampling

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFigures: each figure stands once in the table, with a sentence, and one that is counted for
// each unit of another finds that.
func TestFigures(t *testing.T) {
	seen := map[string]bool{}
	for _, kinds := range figureKinds {
		for _, k := range kinds {
			assert.Regexp(t, `^[a-z0-9_]+$`, k.figure)
			assert.False(t, seen[k.figure], k.figure)
			seen[k.figure] = true
			assert.Regexp(t, `^[A-Z0-9].*\.$`, k.help)
			of, ratio := strings.CutPrefix(k.how, "per ")
			assert.Equal(t, ratio, findDivisor(kinds, k) >= 0, of)
			assert.Contains(t, []string{"", "gauge", "share", "statistic"}, strings.TrimSuffix(k.how, "per "+of))
		}
	}
	for of := range nodeExporter.metrics {
		if strings.HasSuffix(of, "_total") {
			assert.True(t, seen[of], of)
		}
	}
}

// TestUnreadRecord: a size that cannot be read is unknown, and not 0.
func TestUnreadRecord(t *testing.T) {
	values := unknown(1)
	require.Error(t, Record(t.TempDir()+"/gone").Read(t.Context(), values))
	assert.InDelta(t, math.NaN(), values[0], 0)
}
