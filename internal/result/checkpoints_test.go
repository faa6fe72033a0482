package result

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/measure"
	"ds2/internal/monitor"
)

// TestIndirectCheckpoints: a server that writes changed pages all the time has no cycles, and it is said why.
func TestIndirectCheckpoints(t *testing.T) {
	for seconds, known := range map[string]bool{"60": false, "0": true, "": true} {
		server := monitor.Server{Settings: map[string]string{targetRecovery: seconds}}
		s := Summary{Happened: Happened{Servers: []monitor.Server{server}}}
		series := measure.Series{Samples: []measure.Sample{{End: time.Minute}}}
		counters := &monitor.Table{Columns: []string{monitor.DatabaseCheckpointPages},
			Rows: []monitor.Row{{Time: s.Start, Values: []float64{0}}}}
		AddCheckpoints(&s, &series, counters)
		assert.Equal(t, known, series.Cycles != nil, "target recovery time %q", seconds)
		assert.Equal(t, !known, strings.Contains(series.NoCycles, "recover within 1m0s"), series.NoCycles)
	}
}
