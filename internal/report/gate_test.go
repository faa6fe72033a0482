package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/limit"
	"ds2/internal/result"
)

// TestGateOnResponseTimes reads what a bench does not hold from the records of its runs.
func TestGateOnResponseTimes(t *testing.T) {
	bench := func(name string, runs int) Configuration {
		c := Configuration{Name: name, Dir: "/"}
		for range runs {
			r := record(t, nil)
			c.Runs = append(c.Runs, result.BenchRun{Dir: r.Dir, Status: result.Done, Counts: true,
				Headline: r.Headline})
		}
		return c
	}
	gates := make([]limit.Gate, 3)
	for i, text := range []string{"order p99 > +10%", "device read mean > 5%", "order p99 <= 0.5%"} {
		var err error
		if gates[i], err = limit.ParseGate(text, nil); err != nil {
			t.Fatal(err)
		}
	}
	a, b := bench("a", 3), bench("b", 2)
	b.Runs[1].Dir = record(t, nil).Dir
	c := Comparison{Configurations: []Configuration{a, b}}
	require.NoError(t, c.Judge(gates))
	if c.Gates[1].Outcome != limit.GateOpen ||
		!strings.Contains(c.Gates[1].Why, "was measured in 0 runs of a and 0 of b") {
		t.Errorf("drives that nobody observed: %+v", c.Gates[1])
	}
	// All the records are of the same seed, so their runs do not differ and nothing is known of their scatter.
	if c.Gates[0].Outcome != limit.GateOpen || c.Gates[0].Change.Percent != 0 ||
		!strings.Contains(c.Gates[0].Why, "two runs of each that differ, and there are 3 and 2") {
		t.Errorf("equal runs: %+v", c.Gates[0])
	}
	c.Configurations[1].Runs[0].Dir = "/nowhere"
	assert.ErrorContains(t, c.Judge(gates), "judge order p99 of b")
}
