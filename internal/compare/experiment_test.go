package compare

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/conclude"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestMissingRun: a configuration of which the record of a run is gone is an error where that is to be read, and does
// not vanish from the experiment; one that has not begun has no part in it yet.
func TestMissingRun(t *testing.T) {
	dir := t.TempDir()
	record := result.Experiment{}
	for _, name := range []string{"hdd", "ssd", "tape"} {
		record.Configurations = append(record.Configurations, result.ExperimentConfiguration{Name: name, Dir: name})
		require.NoError(t, result.MakeDir(filepath.Join(dir, name)))
	}
	for _, name := range []string{"hdd", "ssd"} {
		bench := configuration(name, "", 1, 2).Bench
		bench.Status = result.Done
		require.NoError(t, result.SaveSummary(filepath.Join(dir, name), bench))
	}
	e, err := NewExperiment(conclude.Reader{}, dir, record)
	require.NoError(t, err)
	require.Len(t, e.Benches, 2)
	windows, err := measure.ParseWindows([]string{"auto"})
	require.NoError(t, err)
	_, err = NewExperiment(conclude.Reader{Windows: windows}, dir, record)
	require.ErrorContains(t, err, filepath.Join("hdd", "run-1"))
}
