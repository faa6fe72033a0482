package tune

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// tuned searches the fewest users that make a target, by the IOPS and the strain of each number.
func tuned(t *testing.T, target float64, of func(users int) (iops, strain float64)) Result {
	t.Helper()
	config := Config{Method: Steps, Start: 16, Max: 64, Gain: 0.02}
	r, err := Search(t.Context(), config, func(_ context.Context, step Step) (Trial, error) {
		iops, strain := of(step.Threads)
		return Trial{OPM: iops, Strain: strain, Passed: strain < 1, Reach: iops / target}, nil
	})
	require.NoError(t, err)
	require.NotNil(t, r.Best)
	return r
}

// TestPublishedTuning replays the tuning logs of a published report (mailbox/WORKLOAD.md section 2, S003): sessions,
// IOPS and milliseconds of reads and of log writes, for a target of 250 IOPS within 20 and 10 ms. Both ended at 4
// sessions.
func TestPublishedTuning(t *testing.T) {
	type step struct{ iops, read, log float64 }
	for name, steps := range map[string]map[int]step{
		"2 h":  {16: {372, 31.9, 2.5}, 8: {341, 25.9, 2.4}, 4: {266, 16.3, 2.4}},
		"24 h": {16: {383, 29.1, 2.5}, 8: {344, 24.8, 2.4}, 4: {267, 15.3, 2.4}},
	} {
		r := tuned(t, 250, func(sessions int) (iops, strain float64) {
			require.Contains(t, steps, sessions, "the log of %s", name)
			s := steps[sessions]
			return s.iops, max(s.read/20, s.log/10)
		})
		require.Equal(t, 4, r.Best.Threads, name)
	}
}

// TestFewest finds the fewest users that make a target on a store that does at most 1000 IOPS.
func TestFewest(t *testing.T) {
	for target, want := range map[float64]int{100: 1, 350: 4, 650: 7, 990: 10} {
		r := tuned(t, target, func(users int) (iops, strain float64) {
			return min(100*float64(users), 1000), float64(users) / 50
		})
		require.Equal(t, want, r.Best.Threads, "target %g", target)
	}
}
