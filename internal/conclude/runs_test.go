package conclude

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestDigestKeepsWarnings takes both kinds of a run's warnings along.
func TestDigestKeepsWarnings(t *testing.T) {
	var s result.Summary
	s.Warnings = []string{"a log would be full"}
	s.Bottleneck = &result.Bottleneck{Warnings: []string{"others take processors"}}
	run := result.BenchRun{Warnings: []string{"of before"}}
	Digest(&run, s)
	assert.Equal(t, []string{"others take processors", "a log would be full"}, run.Warnings)
}

// TestDigestKeepsDrift takes along by how much a run drifted, where that was too much.
func TestDigestKeepsDrift(t *testing.T) {
	var s result.Summary
	var run result.BenchRun
	for _, c := range []struct {
		drift float64
		kept  bool
	}{{27, true}, {12, false}, {-30, true}} {
		s.Windows = []measure.Window{{Steady: measure.Steadiness{Drift: c.drift, Verdict: !c.kept}}}
		Digest(&run, s)
		assert.Equal(t, c.kept, run.Drift != nil && *run.Drift == c.drift, "a drift of %v %%", c.drift)
	}
}
