package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/result"
)

// TestBoundsPartFindings: runs whose figures differ share a finding, and two limits of one metric
// do not.
func TestBoundsPartFindings(t *testing.T) {
	of := func(dir, detail string) result.BenchRun {
		finding := result.NewFinding(result.LimitOpen, detail)
		return result.BenchRun{
			Dir: dir, Status: result.Done, Findings: []result.Finding{finding},
		}
	}
	all := FoldRuns([]result.BenchRun{
		of("run-1", "opm > 163 (measured 169.0)"),
		of("run-2", "opm > 163 (measured 161.5)"),
		of("run-3", "opm > 156 (measured 147.9)"),
	})
	require.Len(t, all, 2)
	assert.Equal(t, []string{"run-1", "run-2"}, all[0].Runs)
	assert.Equal(t, []string{"run-3"}, all[1].Runs)
}
