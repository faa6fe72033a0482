package report

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/limit"
	"ds2/internal/result"
)

// TestGateOnResponseTimes reads what a bench does not hold from the records of its runs.
func TestGateOnResponseTimes(t *testing.T) {
	r := record(t, nil)
	bench := func(name string, runs int) Configuration {
		run := result.BenchRun{Dir: r.Dir, Status: result.Done, Counts: true, Headline: r.Headline}
		c := Configuration{Name: name, Dir: "/"}
		c.Runs = slices.Repeat([]result.BenchRun{run}, runs)
		return c
	}
	gates := make([]limit.Gate, 3)
	for i, text := range []string{"order p99 > +10%", "device read mean > 5%", "order p99 <= 0.5%"} {
		var err error
		gates[i], err = limit.ParseGate(text, nil)
		require.NoError(t, err)
	}
	a, b := bench("a", 3), bench("b", 2)
	c := Comparison{Configurations: []Configuration{a, b}}
	require.NoError(t, c.Judge(gates))
	assert.Equal(t, limit.GateOpen, c.Gates[1].Outcome, "drives that nobody observed")
	assert.Contains(t, c.Gates[1].Why, "was measured in 0 runs of a and 0 of b")
	// The runs do not differ, so nothing is known of their scatter.
	assert.Equal(t, limit.GateOpen, c.Gates[0].Outcome, "equal runs")
	assert.Zero(t, c.Gates[0].Change.Percent)
	assert.Contains(t, c.Gates[0].Why, "two runs of each that differ, and there are 3 and 2")
	c.Configurations[1].Runs[0].Dir = "/nowhere"
	assert.ErrorContains(t, c.Judge(gates), "judge order p99 of b")
}
