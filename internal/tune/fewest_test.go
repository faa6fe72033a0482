package tune

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPublishedTuning replays the tuning logs of a published report (mailbox/WORKLOAD.md section 2, S003): sessions,
// IOPS and milliseconds of reads and of log writes, for a target of 250 IOPS within 20 and 10 ms. Both ended at 4
// sessions.
func TestPublishedTuning(t *testing.T) {
	type step struct{ iops, read, log float64 }
	for name, steps := range map[string]map[int]step{
		"2 h":  {16: {372, 31.9, 2.5}, 8: {341, 25.9, 2.4}, 4: {266, 16.3, 2.4}},
		"24 h": {16: {383, 29.1, 2.5}, 8: {344, 24.8, 2.4}, 4: {267, 15.3, 2.4}},
	} {
		var order []int
		r, err := Search(context.Background(), Config{Method: Steps, Start: 16, Max: 64, Gain: 0.02}, func(_ context.Context, step Step) (Trial, error) {
			threads, why := step.Threads, step.Why
			s, logged := steps[threads]
			require.True(t, logged, "%s: %d sessions are tried (%s), which the log", name, threads, why)
			order = append(order, threads)
			strain := max(s.read/20, s.log/10)
			return Trial{OPM: s.iops, Strain: strain, Passed: strain < 1, Reach: s.iops / 250}, nil
		})
		if err != nil || r.Best == nil || r.Best.Threads != 4 {
			t.Errorf("%s: %+v, %v", name, r.Best, err)
		}
		t.Logf("%s: %v, %s", name, order, r.Why)
	}
}

// TestFewest finds the fewest users that make a target on a store that does at most 1000 IOPS.
func TestFewest(t *testing.T) {
	for target, want := range map[float64]int{100: 1, 350: 4, 650: 7, 990: 10} {
		trials := 0
		r, err := Search(context.Background(), Config{Method: Steps, Start: 16, Max: 64, Gain: 0.02}, func(_ context.Context, step Step) (Trial, error) {
			threads := step.Threads
			trials++
			iops := min(100*float64(threads), 1000)
			strain := float64(threads) / 50
			return Trial{OPM: iops, Strain: strain, Passed: strain < 1, Reach: iops / target}, nil
		})
		if err != nil || r.Best == nil || r.Best.Threads != want {
			t.Errorf("target %g: %+v, %v; want %d users", target, r.Best, err, want)
		}
		t.Logf("target %g: %d trials", target, trials)
	}
}
