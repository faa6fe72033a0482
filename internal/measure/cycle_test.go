package measure

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkpointed is a run of 1,200 s whose rate falls by a half for the first 60 s of every period,
// with its begins known.
func checkpointed(period, first float64) Series {
	series := synthetic(1200, 10, 0.05, func(t float64) float64 {
		if t >= first && math.Mod(t-first, period) < 60 {
			return 500
		}
		return 1000
	})
	series.Cycles = []time.Duration{}
	for t := first; t < 1200; t += period {
		series.Cycles = append(series.Cycles, time.Duration(t*float64(time.Second)))
	}
	return series
}

// TestCycles: a series with a period is judged over whole periods, and a window says that it holds
// part of one.
func TestCycles(t *testing.T) {
	indirect := checkpointed(2000, 3000)
	indirect.Cycles = nil
	indirect.NoCycles = "checkpoints are indirect"
	for _, c := range []struct {
		why      string
		series   Series
		window   string
		from, to float64
		steady   bool
		cycle    string
	}{
		{
			"two whole cycles", checkpointed(150, 40), "checkpoints=2", 790, 1090, true,
			"the window holds 2 whole checkpoint cycles of about 150 s",
		},
		{
			"six of seven whole cycles, in five rounds", checkpointed(150, 40), "checkpoints=6", 190, 1090, true,
			"the window holds 6 whole",
		},
		{
			"the run phase holds whole cycles and a part", checkpointed(150, 40), "10s-1200s", 10, 1200, true,
			"the window holds only part of a checkpoint cycle: 7.9 cycles of about 150 s " +
				"(--window checkpoints=2 takes whole ones)",
		},
		{
			"the storage report's window holds less than two", checkpointed(300, 100), "1000s-1200s", 1000, 1200, false,
			"the window holds only part of a checkpoint cycle: 0.7 cycles of about 300 s",
		},
		{
			"many cycles", checkpointed(70, 40), "10s-1200s", 10, 1200, true,
			"the window holds 17.0 checkpoint cycles of about 70 s",
		},
		{
			"a single one", checkpointed(2000, 640), "10s-300s", 10, 300, true,
			"only one checkpoint began during the run, at 640 s",
		},
		{
			"none", checkpointed(2000, 3000), "10s-300s", 10, 300, true,
			"no checkpoint started during the run",
		},
		{"a server that has none", indirect, "10s-300s", 10, 300, true, "checkpoints are indirect"},
	} {
		spec, err := ParseWindow(c.window)
		require.NoError(t, err)
		w, err := c.series.Compute(spec)
		require.NoError(t, err, c.why)
		assert.Equal(t, [2]float64{c.from, c.to}, [2]float64{w.From, w.To}, c.why)
		assert.Equal(t, c.steady, w.Steady.Verdict, "%s: %+v", c.why, w.Steady)
		assert.Contains(t, w.Cycle.Why, c.cycle, c.why)
	}
	two := WindowSpec{Name: "checkpoints", Cycles: 2}
	unknown := synthetic(1200, 10, 0.05, constant(1000))
	w, err := checkpointed(150, 40).Compute(two)
	require.NoError(t, err)
	assert.InEpsilon(t, 60*800, w.OPM, .02, "of whole cycles")
	_, err = checkpointed(600, 40).Compute(two)
	assert.ErrorContains(t, err, "the run phase holds fewer whole checkpoint cycles (1)")
	_, err = unknown.Compute(two)
	assert.ErrorContains(t, err, "when checkpoints began is unknown")
	w, err = unknown.Window("w", Span{100 * time.Second, 300 * time.Second})
	require.NoError(t, err)
	assert.Nil(t, w.Cycle, "unknown cycles")
}
