package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/result"
)

// TestDamagedRecord: no command makes a figure of a record that is damaged; it fails and names the file.
func TestDamagedRecord(t *testing.T) {
	_, dir := measured(t, 0)
	require.Contains(t, must(t, "report", "-o", "text", dir), " OPM")
	require.NoError(t, os.Truncate(filepath.Join(dir, result.SamplesFile), 300))
	for _, command := range []string{"report", "report -o text", "report -o csv", "report -o json", "compare"} {
		stdout, stderr := ends(t, exitFailed, words("%s %s", command, dir)...)
		assert.Contains(t, stderr, result.SamplesFile+" is damaged", command)
		assert.NotContains(t, stdout, "OPM", command)
	}
}
