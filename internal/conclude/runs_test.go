package conclude

import (
	"slices"
	"testing"

	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestDigestKeepsWarnings takes both kinds of a run's warnings along.
func TestDigestKeepsWarnings(t *testing.T) {
	var s result.Summary
	s.Warnings = []string{"a log would be full"}
	s.Bottleneck = &result.Bottleneck{Bottleneck: diagnose.Bottleneck{What: diagnose.Storage}, Warnings: []string{"others take processors"}}
	run := result.BenchRun{Warnings: []string{"of before"}}
	Digest(&run, s)
	if want := []string{"others take processors", "a log would be full"}; !slices.Equal(run.Warnings, want) {
		t.Errorf("warnings %q, want %q", run.Warnings, want)
	}
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
		if kept := run.Drift != nil && *run.Drift == c.drift; kept != c.kept {
			t.Errorf("a drift of %v %%: %v", c.drift, run.Drift)
		}
	}
}
