package result

import (
	"strings"
	"testing"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
)

// TestIndirectCheckpoints: a server that writes changed pages all the time has no cycles, and it is said why.
func TestIndirectCheckpoints(t *testing.T) {
	for seconds, known := range map[string]bool{"60": false, "0": true, "": true} {
		server := monitor.Server{Settings: map[string]string{targetRecovery: seconds}}
		s := Summary{Happened: Happened{Servers: []monitor.Server{server}}}
		series := measure.Series{Samples: []measure.Sample{{End: time.Minute}}}
		counters := &monitor.Table{
			Columns: []string{monitor.DatabaseCheckpointPages},
			Rows:    []monitor.Row{{Time: s.Start, Values: []float64{0}}},
		}
		AddCheckpoints(&s, &series, counters)
		if (series.Cycles != nil) != known || strings.Contains(series.NoCycles, "recover within 1m0s") == known {
			t.Errorf("target recovery time %q: cycles %v, %q", seconds, series.Cycles, series.NoCycles)
		}
	}
}
