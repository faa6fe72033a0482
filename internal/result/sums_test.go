package result

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recordOfRun writes the record of a run that began at a time, with counters.
func recordOfRun(t *testing.T, dir, id string, start time.Time) {
	t.Helper()
	write(t, dir, series())
	s, err := ReadSummary[Summary](dir)
	require.NoError(t, err)
	s.RunID = id
	s.Start = start
	require.NoError(t, errors.Join(SaveHost(dir, hostTable(), start), SaveSummary(dir, s)))
}

// TestSums refuses by name what is not what was written: files of other runs, which would be read,
// and figures that were edited.
func TestSums(t *testing.T) {
	at := time.Date(2026, 11, 28, 4, 15, 0, 0, time.UTC)
	squeezed := func(t *testing.T, path string) {
		text := unpacked(t, path)
		squeeze(t, path, strings.NewReader(text)) // the same rows in other bytes
	}
	for why, c := range map[string]struct {
		file   string
		damage damage
		words  string
	}{
		"another run's counters":    {HostFile, squeezed, "is not the file that the run wrote"},
		"another run's histograms":  {HistogramsFile, squeezed, "is not the file that the run wrote"},
		"another run's slow orders": {SlowestFile, squeezed, "is not the file that the run wrote"},
		"counters that are gone":    {HostFile, remove, "is gone, which the run wrote"},
		"an edited figure": {
			SummaryFile, replace(`"retries": null`, `"retries": []`), "it was changed after ds2 wrote it",
		},
		"a sum in another place": {SummaryFile, func(t *testing.T, path string) {
			var s map[string]any
			text, err := os.ReadFile(path)
			require.NoError(t, errors.Join(err, json.Unmarshal(text, &s)))
			s["retries"] = []int{}
			text, err = json.Marshal(s) // sorts the keys
			require.NoError(t, errors.Join(err, os.WriteFile(path, text, 0o600)))
		}, "it was changed after ds2 wrote it"},
	} {
		t.Run(why, func(t *testing.T) {
			dir := t.TempDir()
			recordOfRun(t, dir, "a", at)
			_, err := Read(dir)
			require.NoError(t, err, "before the damage")
			c.damage(t, filepath.Join(dir, c.file))
			_, err = Read(dir)
			require.ErrorContains(t, err, c.file)
			assert.ErrorContains(t, err, c.words)
		})
	}
}

// TestSumsOfBench refuses a bench one of whose runs was exchanged, and takes one whose run was
// audited afterwards.
func TestSumsOfBench(t *testing.T) {
	at := time.Date(2026, 11, 28, 4, 15, 0, 0, time.UTC)
	dir := t.TempDir()
	one := filepath.Join(dir, "run-1")
	recordOfRun(t, one, "a", at)
	recordOfRun(t, filepath.Join(dir, "other"), "b", at.Add(time.Hour))
	bench := Bench{Status: Done, Runs: []BenchRun{{Dir: "run-1", Status: Done}}}
	require.NoError(t, SaveSummary(dir, bench))
	s, err := ReadSummary[Summary](one)
	require.NoError(t, err)
	s.Audit = &Audit{Passed: true, Checks: []Check{{Passed: true}}}
	require.NoError(t, SaveSummary(one, s))
	read, err := ReadSummary[Bench](dir)
	require.NoError(t, err, "a run was audited")
	assert.Equal(t, "a", read.Runs[0].RunID)

	require.NoError(t, errors.Join(os.RemoveAll(one), os.Rename(filepath.Join(dir, "other"), one)))
	_, err = ReadSummary[Bench](dir)
	require.ErrorContains(t, err, one+" holds the run b that began at 2026-11-28T05:15:00Z")
	require.NoError(t, os.RemoveAll(one))
	_, err = ReadSummary[Bench](dir)
	require.NoError(t, err, "a run that is gone is missed where it is read")
}
