package runs

import (
	"strings"
	"testing"
	"time"

	"ds2/internal/monitor"
	"ds2/internal/result"
)

// TestUncountedCheckpoints: a server that counts no checkpoints is not waited on for one.
func TestUncountedCheckpoints(t *testing.T) {
	for column, waits := range map[string]bool{monitor.DatabaseCheckpoints: true, monitor.DatabaseCheckpointPages: false} {
		w := warm{}
		now := result.Warm{}
		w.checkpoints(&now, monitor.Table{Columns: []string{column}, Rows: []monitor.Row{{Time: time.Now(), Values: []float64{0}}}})
		w.record = now
		if got := strings.Contains(w.waits(), "no checkpoint"); got != waits || now.Checkpoint {
			t.Errorf("of a server that tells %s: waits for a checkpoint %v", column, got)
		}
	}
}
