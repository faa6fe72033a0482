package compare

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/diagnose"
	"ds2/internal/result"
)

// TestFindings: what is found of a run is found of a bench that has the run, and of a comparison
// that has the bench, with the same effect, and no gate passes beside what fails.
func TestFindings(t *testing.T) {
	gate, err := ParseGate("opm < -50 %")
	require.NoError(t, err)
	for _, kind := range result.FindingKinds {
		if kind.Scope == result.OfConfiguration {
			continue
		}
		f := result.NewFinding(kind.Kind, "so")
		a := configuration("a", diagnose.Storage, 1000, 1010, 990)
		b := configuration("b", diagnose.Storage, 1030, 1040, 1020)
		b.Runs[1].Findings = append(b.Runs[1].Findings, f, f) // twice, as of two databases
		Runs(&b.Bench)
		c := WithFirst([]Configuration{a, b})
		for level, all := range map[string][]result.Finding{"bench": b.Findings, "comparison": c.Findings} {
			i := slices.IndexFunc(all, func(o result.Finding) bool {
				return o.Kind == kind.Kind && len(o.Runs) > 0 // not the bench's own
			})
			require.GreaterOrEqual(t, i, 0, "%s: %s", kind.Kind, level)
			folded := all[i]
			assert.Equal(t, f.AmongRuns(), folded.Effect, "%s: %s", kind.Kind, level)
			assert.Equal(t, []string{"run-2"}, folded.Runs, "%s: %s", kind.Kind, level)
			assert.False(
				t,
				f.AmongRuns().Worse(result.WorstEffect(all)),
				"%s: %s",
				kind.Kind,
				level,
			)
		}
		require.NoError(t, c.Judge(gate))
		if f.AmongRuns() == result.Fails {
			assert.Equal(t, GateFailed, c.Gates[0].Outcome, kind.Kind)
		}
	}
}
