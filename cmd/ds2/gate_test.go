package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/limit"
	"ds2/internal/report"
)

// TestGate: compare exits with 3 only where the interval excludes the bound, and with 4 where it holds it.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	benchOf(t, dir+"/before", 100, 200, 60000, 60300, 59800)
	benchOf(t, dir+"/worse", 100, 200, 55000, 55200, 54900)
	benchOf(t, dir+"/noisy", 100, 200, 52000, 60500, 57000)
	benchOf(t, dir+"/once", 100, 200, 30000)
	names := strings.NewReplacer("before", dir+"/before", "worse", dir+"/worse", "noisy", dir+"/noisy",
		"once", dir+"/once")
	for _, c := range []struct {
		why, args      string
		code           int
		stdout, stderr string
	}{
		{"a loss beyond doubt", "--fail-if 'opm < -2.5%' before worse", exitVerdict,
			"opm < -2.5%  failed   opm changed by -8.3 % (95 % confidence",
			"gates failed: opm < -2.5% of worse: opm changed by -8.3 %"},
		{"a loss that is allowed", "--fail-if opm<-10% before worse", exitDone, "opm < -10%  passed", ""},
		{"too much scatter to tell", "--fail-if 'opm < -2.5%' before noisy", exitUnknown, "cannot tell",
			"could have shown is -"},
		{"the same, where that may pass", "--fail-if 'opm < -2.5%' --cannot-tell pass before noisy", exitDone,
			"more runs of each a change of -2.5 % can be told from none", ""},
		{"half as much, but in a single run", "--fail-if 'opm < -2.5%' before once", exitUnknown,
			"an interval takes two runs of each", ""},
		{"one of two gates", "--fail-if 'opm > 50%' --fail-if 'opm < -5%' before worse", exitVerdict, "opm > 50%",
			"opm < -5% of worse"},
		{"power, which was measured once", "--fail-if 'active power > 5%' before worse", exitUnknown,
			"active power > 5%  cannot tell", "active power changed by +0.0 %"},
		{"nothing to compare with", "--fail-if 'opm < -2.5%' before", exitUsage, "", "--fail-if: name two directories"},
		{"Markdown", "-o markdown --fail-if 'opm < -2.5%' before worse", exitVerdict,
			"| worse | opm &lt; -2.5% | failed | opm changed by -8.3 %", ""},
	} {
		t.Log(c.why)
		stdout, stderr := ends(t, c.code, words("compare --details %s", names.Replace(c.args))...)
		assert.Contains(t, stdout, c.stdout, c.why)
		assert.Contains(t, stderr, c.stderr, c.why)
	}
	_, stdout, _ := execute(t, words("compare -o json --fail-if 'opm < -2.5%%' %s",
		names.Replace("before worse once"))...)
	var c report.Comparison
	require.NoError(t, json.Unmarshal([]byte(stdout), &c))
	require.Len(t, c.Gates, 2)
	assert.True(t, c.Gates[0].Outcome == limit.GateFailed && c.Gates[0].Change.High < -2.5, "gates %+v", c.Gates)
	assert.Equal(t, limit.GateOpen, c.Gates[1].Outcome)
}
