package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/texttest"
)

// TestDeepCheckReachesTheRecord: a deep check after a run, which was audited then, stands in its
// record, and so in each report of it.
func TestDeepCheckReachesTheRecord(t *testing.T) {
	t.Parallel()
	_, target := loadedServer(t)
	p := begin(t, quick("drive", target, "--run-time 2s --quiet --out out")...)
	p.ends(t, exitDone)
	require.Empty(t, recordOf(t, p.out).DeepChecks)
	must(t, "verify", "--target", target, "--quiet", "--deep", "--record", p.out)
	record := recordOf(t, p.out)
	require.Len(t, record.DeepChecks, 1)
	assert.Positive(t, record.DeepChecks[0].Bytes)
	assert.False(t, record.Audit.Whole, "the run's own audit stays")
	text := must(t, "report", "--output", "text", "--details", "--out", "-", p.out)
	texttest.Contains(t, text, "All tables and indexes were checked, ")
}
