package conclude

import (
	"slices"
	"testing"

	"ds2/internal/diagnose"
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
