package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/workload/ds2"
)

// TestDamagedRecord: no command makes a figure of a record that is damaged or was changed; it fails and names the file.
func TestDamagedRecord(t *testing.T) {
	dir := t.TempDir()
	made(t, dir, ds2.Workload{}.Words(), ds2.Name, struct{}{}, 0)
	require.Contains(t, must(t, "report", "-o", "text", dir), " OPM")
	whole := recordOf(t, dir).Summary
	for why, change := range map[string]func(*result.Summary){
		"result and its copies": func(s *result.Summary) {
			s.Headline = result.NewHeadline(&result.Figure{Unit: s.Figure.Unit, Value: 2 * s.Figure.Value})
			s.Windows = []measure.Window{s.Windows[0]}
			s.Windows[0].OPM *= 2
		},
		"orders":                  func(s *result.Summary) { s.Counts.Orders *= 10 },
		"an end before the start": func(s *result.Summary) { s.End = s.Start.Add(-time.Hour) },
		"a passed audit": func(s *result.Summary) {
			s.Audit = &result.Audit{Passed: true, Checks: []result.Check{{}}}
		},
	} {
		s := whole
		change(&s)
		require.NoError(t, result.SaveSummary(dir, s))
		for _, command := range []string{"report -o text", "compare"} {
			_, stderr := ends(t, exitFailed, words("%s %s", command, dir)...)
			assert.Contains(t, stderr, result.SummaryFile+": ", why)
		}
	}
	require.NoError(t, result.SaveSummary(dir, whole))
	require.NoError(t, os.Truncate(filepath.Join(dir, result.SamplesFile), 300))
	for _, command := range []string{"report", "report -o text", "report -o csv", "report -o json", "compare"} {
		stdout, stderr := ends(t, exitFailed, words("%s %s", command, dir)...)
		assert.Contains(t, stderr, result.SamplesFile+" is damaged", command)
		assert.NotContains(t, stdout, "OPM", command)
	}
}
