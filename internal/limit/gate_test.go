package limit

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/measure"
)

func TestParseGate(t *testing.T) {
	for _, c := range []struct{ text, want, bad string }{
		{text: "opm < -2.5%", want: "opm < -2.5%"},
		{text: " order  p99>+10 %", want: "order p99 > +10%"},
		{text: "errors >= 0%", want: "errors >= 0%"},
		{text: "device read mean > 20%", want: "device read mean > 20%"},
		{text: "opm  per watt < -5%", want: "OPM per watt < -5%"},
		{text: "active power > 5%", want: "active power > 5%"},
		{text: "opm -2.5%", bad: "compare the change"},
		{text: "opm == 1%", bad: "compare the change"},
		{text: "opm < 60000", bad: "needs a percent sign, such as 60000%"},
		{text: "opm < five%", bad: "write by how many percent"},
		{text: "order > 5%", bad: "order needs a statistic"},
		{text: "oppm > 5%", bad: `unknown figure "oppm"`},
		{text: "opm < -2% ,order", bad: "--fail-if once for each"},
	} {
		g, err := ParseGate(c.text, []string{"active power", "OPM per watt"}, operations...)
		if c.bad != "" {
			assert.True(t, err != nil && strings.Contains(err.Error(), c.bad) && errors.As(err, new(*SyntaxError)),
				"ParseGate(%q): %v, want an error with %q", c.text, err, c.bad)
			continue
		}
		assert.True(t, err == nil && g.String() == c.want, "ParseGate(%q) = %q, %v; want %q", c.text, g, err, c.want)
		assert.Equal(t, strings.Contains(c.text, ">"), g.Rising(), c.text)
		assert.Equal(t, strings.HasPrefix(c.text, "errors"), g.Counted(), c.text)
	}
}

func FuzzParseGate(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		g, err := ParseGate(text, nil)
		if err != nil {
			return
		}
		again, err := ParseGate(g.String(), nil)
		assert.True(t, err == nil && again == g, "%q is read as %q, and that as %q: %v", text, g, again, err)
	}, "opm < -2.5%", "order p99 > +10%", "errors >= 0%", "opm <", "%")
}

// TestJudgeGate: only an interval that excludes the bound is a verdict.
func TestJudgeGate(t *testing.T) {
	change := func(low, high float64) measure.Change {
		return measure.Change{Percent: (low + high) / 2, Low: low, High: high}
	}
	for _, c := range []struct {
		why, gate string
		change    measure.Change
		want      Outcome
	}{
		{"a loss beyond doubt", "opm < -2.5%", change(-6, -3), GateFailed},
		{"the estimate is worse than the bound, the interval holds it", "opm < -2.5%", change(-6, -1), GateOpen},
		{"a loss, but less than the bound", "opm < -2.5%", change(-2, -1), GatePassed},
		{"a gain", "opm < -2.5%", change(1, 5), GatePassed},
		{"no difference, and too wide to tell", "opm < -2.5%", change(-8, 8), GateOpen},
		{"a latency that rose", "order p99 > +10%", change(12, 30), GateFailed},
		{"a latency that may have risen by the bound", "order p99 > 10%", change(8, 12), GateOpen},
		{"at the bound", "opm <= -2.5%", change(-4, -2.5), GateFailed},
		{"nobody knows the scatter", "opm < -2.5%", measure.Unknown(), GateOpen},
	} {
		g, err := ParseGate(c.gate, nil)
		require.NoError(t, err)
		assert.Equal(t, c.want, g.Judge(c.change), c.why)
	}
}

// TestReach: a search goes on while one figure is below what it has to reach; upper limits have no part in that.
func TestReach(t *testing.T) {
	of := func(unit Unit, bound, measured float64) Verdict {
		return Verdict{Unit: unit, Bound: bound, Measured: &measured}
	}
	all := []Verdict{of(Seconds, 1, 9), of(OPM, 2000, 3000), of(OPM, 4000, 3000), {Unit: OPM, Bound: 1}}
	assert.Equal(t, .75, Reach(all))
	assert.Zero(t, Reach(all[:1]))
}
