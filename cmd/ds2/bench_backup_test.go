package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
)

// TestBenchBackup reads two databases of one cluster and one of another, and reports that in all formats.
func TestBenchBackup(t *testing.T) {
	t.Parallel()
	other := pgtest.Start(t, localpg.Options{})
	targets := []string{pgtest.Database(t), pgtest.Database(t), other.URL("postgres")}
	dir := filepath.Join(t.TempDir(), "backup")
	backup := words("bench-backup --target %s --out %s --output json --quiet", strings.Join(targets, ";"), dir)
	b := decoded[result.Backup](t, backup...)
	require.Len(t, b.Units, 2)
	assert.True(t, len(b.Units[0].Targets) == 2 && len(b.Units[1].Targets) == 1, "%+v", b)
	assert.True(t, b.Bytes == b.Units[0].Bytes+b.Units[1].Bytes && b.Units[1].Bytes >= 10e6 && b.MBPerSecond > 0,
		"%+v", b)
	fails(t, exitUsage, "--out", "bench-backup", "--target", targets[0], "--out", dir)
	for _, format := range []string{"text", "json", "html"} {
		said := must(t, "report", "--details", "--output", format, "--out", "-", dir)
		assert.Contains(t, said, b.Units[1].Unit)
		assert.NotContains(t, said, "password")
	}
	run := filepath.Join(t.TempDir(), "run")
	publishedRuns["S003"][0].record(t, run, "server1")
	assert.Contains(t, must(t, "report", "--output", "esrp", run, dir), "MB read/sec")
	fails(t, exitUsage, "--output csv", "report", "--output", "csv", dir)
	fails(t, exitUsage, "--output", "report", "--output", "esrp", dir)
}
