package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestTake takes along both kinds of a run's warnings, and by how much it drifted, where that was too much.
func TestTake(t *testing.T) {
	var s result.Summary
	s.Warnings = []string{"a log would be full"}
	s.Bottleneck = &result.Bottleneck{Warnings: []string{"others take CPUs"}}
	run := result.BenchRun{Warnings: []string{"of before"}}
	for drift, kept := range map[float64]bool{27: true, 12: false, -30: true} {
		s.Windows = []measure.Window{{Steady: measure.Steadiness{Drift: drift, Verdict: !kept}}}
		Take(&run, s)
		assert.Equal(t, kept, run.Drift != nil && *run.Drift == drift, "a drift of %v %%", drift)
	}
	assert.Equal(t, []string{"others take CPUs", "a log would be full"}, run.Warnings)
}
