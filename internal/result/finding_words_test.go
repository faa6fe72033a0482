package result_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/result"
)

// TestWhoseFinding: runs are named where the finding is not one of all.
func TestWhoseFinding(t *testing.T) {
	for want, runs := range map[string][]string{
		"all 4 runs of ssd: ":                 {"run-1", "run-2", "run-3", "run-4"},
		"2 of 4 runs of ssd (run-1, run-4): ": {"run-1", "run-4"},
	} {
		f := result.NewFinding(result.WideInterval, "of the result is").With("half", .08).With("most", .05)
		f.Configuration = "ssd"
		f.Runs = runs
		f.OfRuns = 4
		assert.Equal(t, want+"the interval of the result is ± 8 %, more than ± 5 %", f.Words())
	}
}
