package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
)

// TestDemoHasAnInterval: a demo by its defaults runs for long enough to say how sure its figure is.
func TestDemoHasAnInterval(t *testing.T) {
	length := *newDemoCommand().Flags().Lookup("run-time").Value.(parsed[time.Duration]).value
	random := rand.New(rand.NewPCG(1, 2))
	var series measure.Series
	for end := time.Second; end <= length; end += time.Second {
		series.Samples = append(series.Samples, measure.Sample{
			End: end, Length: time.Second, Phase: measure.PhaseRun,
			Counts: measure.Counts{Orders: int64(1000 + random.IntN(100))},
		})
	}
	w, err := series.Window("run", series.Phase(measure.PhaseRun))
	require.NoError(t, err)
	assert.NotNil(t, w.CI95, "%s give no interval: %+v", length, w)
}
