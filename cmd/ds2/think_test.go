package main

import (
	"encoding/json"
	"math"
	"testing"
)

// TestThinkTime holds a run to the interactive response-time law (Denning and Buzen, 1978): users = throughput × (response time +
// think time). It is why published OPM with think time hardly depends on the store: 500 users made 1,878 and 200 made 760, both 3.8
// a user, which is a cycle of 16 s.
func TestThinkTime(t *testing.T) {
	t.Parallel()
	target := loaded(t)
	const users, think = 20, 0.1 // seconds
	code, stdout, stderr := execute(t, "drive", "--target", target, "--threads", "20", "--ramp-rate", "1000", "--warmup-time", "1s", "--run-time", "6s",
		"--think-time", "100ms", "--seed", "1", "-o", "json", "--metrics-addr", "", "--verify", "none", "--out", t.TempDir())
	var record struct {
		OPM     float64 `json:"opm"`
		Windows []struct {
			Latency map[string]struct {
				Mean float64 `json:"mean_ms"`
			} `json:"latency"`
		} `json:"windows"`
	}
	if err := json.Unmarshal([]byte(stdout), &record); err != nil || code != exitDone {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	busy := record.OPM / 60 * (record.Windows[0].Latency["order"].Mean/1000 + think)
	if math.Abs(busy/users-1) > 0.1 {
		t.Errorf("%.0f OPM with a mean response time of %.1f ms are the work of %.1f users, not of %d",
			record.OPM, record.Windows[0].Latency["order"].Mean, busy, users)
	}
}
