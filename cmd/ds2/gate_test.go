package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/compare"
	"ds2/internal/result"
)

// TestGate: compare exits with 3 only where the interval excludes the bound, and with 4 where it holds it.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	benchOf(t, dir+"/before", 100, 200, 60000, 60300, 59800)
	benchOf(t, dir+"/worse", 100, 200, 55000, 55200, 54900)
	benchOf(t, dir+"/noisy", 100, 200, 52000, 60500, 57000)
	benchOf(t, dir+"/once", 100, 200, 30000)
	errors := func(n float64) []result.Condition {
		return []result.Condition{{Name: result.FailedAttempts, Value: n}}
	}
	benchWith(t, dir+"/fine", 100, 200, errors(0), 60000, 60300, 59800)
	benchWith(t, dir+"/failing", 100, 200, errors(7), 60000, 60300, 59800)
	names := strings.NewReplacer("fine", dir+"/fine", "failing", dir+"/failing",
		"before", dir+"/before", "worse", dir+"/worse", "noisy", dir+"/noisy",
		"once", dir+"/once")
	for _, c := range []struct {
		why, args      string
		code           int
		stdout, stderr string
	}{
		{"a loss beyond doubt", "--fail-if 'opm < -2.5%' before worse", exitVerdict,
			"opm < -2.5%  failed   opm changed by -8.3 % (95 % confidence",
			"gate failed: opm < -2.5% of worse: opm changed by -8.3 %"},
		{"a loss that is allowed", "--fail-if opm<-10% before worse", exitDone, "opm<-10%  passed", ""},
		{"too much scatter to tell", "--fail-if 'opm < -2.5 %' before noisy", exitUnknown, "cannot tell",
			"gate cannot tell: opm < -2.5 % of noisy"},
		{"half as much, but in a single run", "--fail-if 'opm < -2.5%' before once", exitUnknown,
			"it takes two runs of each", ""},
		{"power, which was measured once", "--fail-if 'active power > 5%' before worse", exitUnknown,
			"active power > 5%  cannot tell", "active power changed by +0 %"},
		{"a figure that the runs lack", "--fail-if 'order p95 > 10%' before worse", exitUnknown, "",
			"was not measured"},
		{"no errors", "--fail-if 'errors > 0' before fine", exitDone, "0 errors in the 3 counted runs", ""},
		{"errors", "--fail-if 'errors > 0' before failing", exitVerdict, "21 errors in the 3 counted runs", ""},
		{"errors that were not recorded", "--fail-if 'errors > 0' before worse", exitUnknown,
			"no errors are recorded", ""},
		{"no figure", "--fail-if 'order p99 > 10%' before worse", exitUsage, "",
			"--fail-if: unknown figure \"order p99\""},
		{"no percentage", "--fail-if 'opm < 60000' before worse", exitUsage, "", "--fail-if: invalid gate"},
		{"errors in percent", "--fail-if 'errors > 5%' before worse", exitUsage, "", "--fail-if: invalid gate"},
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
	var c compare.Comparison
	require.NoError(t, json.Unmarshal([]byte(stdout), &c))
	require.Len(t, c.Gates, 2)
	assert.Equal(t, compare.GateFailed, c.Gates[0].Outcome)
	assert.Equal(t, compare.GateOpen, c.Gates[1].Outcome)
}
