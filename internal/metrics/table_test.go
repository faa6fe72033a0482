package metrics

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSentMetricsHaveRows: what is sent is described in metrics.tsv, and nothing else is there.
func TestSentMetricsHaveRows(t *testing.T) {
	named := regexp.MustCompile(`(?:send\(s, |newHistogram\(|const name = )"([a-z_]+)"`)
	sent := map[string]bool{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range named.FindAllStringSubmatch(string(source), -1) {
			sent[m[1]] = true
		}
	}
	assert.Equal(t, slices.Sorted(maps.Keys(descriptions)), slices.Sorted(maps.Keys(sent)))
}
