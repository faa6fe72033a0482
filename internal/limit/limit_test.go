package limit

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/result"
)

// operations are some that a workload may have.
var operations = []string{"browse", "browse_by_actor", "login", "order", "purchase"}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		why, text     string
		subject, stat string
		compare       Comparison
		bound         float64
		printed       string // empty: as text
	}{
		{"a percentile of the order", "order p95 < 500ms", "order", "p95", Below, 0.5, ""},
		{"an operation, in seconds", "purchase p99 <= 1s", "purchase", "p99", AtMost, 1, ""},
		{"all browses together", "browse mean < 20ms", "browse", "mean", Below, 0.02, ""},
		{
			"a name with underscores", "browse_by_actor max < 2m", "browse_by_actor", "max", Below,
			120, "",
		},
		{"a fine percentile", "login p99.9 < 250us", "login", "p99.9", Below, 250e-6, ""},
		{"a share", "errors < 0.1%", "errors", "", Below, 0.001, ""},
		{"no error at all", "errors <= 0%", "errors", "", AtMost, 0, ""},
		{
			"two words of a device", "device write max < 50ms", "device write", "max", Below, 0.05,
			"",
		},
		{"a rate has a lower limit", "opm > 60000", "opm", "", Above, 60000, ""},
		{"no blanks needed around signs", "opm>=60000", "opm", "", AtLeast, 60000, "opm >= 60000"},
		{
			"blanks wherever one likes", "\t order  p95 <\n0.5 s ", "order", "p95", Below, 0.5,
			"order p95 < 0.5s",
		},
	} {
		got, err := Parse(c.text, operations...)
		require.NoError(t, err, c.why)
		assert.InDelta(t, c.bound, got.Bound, 1e-12, c.why)
		got.Bound = c.bound // 0.1 * 0.01 is not 0.001 in binary
		want := Limit{Metric{c.subject, c.stat}, c.compare, c.bound, cmp.Or(c.printed, c.text)}
		assert.Equal(t, want, got, c.why)
	}
}

// TestParseFault checks the message and that the caret, shown here in the text as ^ before the
// fault, is in its place.
func TestParseFault(t *testing.T) {
	for _, c := range []struct{ text, reason string }{
		{"^", "unknown figure"},
		{"order\u2003^p0 < 500ms", "needs a statistic"}, // a blank of three bytes
		{"^orders p95 < 500ms", `unknown figure "orders"; known: browse, `},
		{"order ^< 500ms", "needs a statistic"},
		{"order ^p100 < 500ms", "needs a statistic"},
		{"order ^median < 500ms", "needs a statistic"},
		{"device ^p95 < 5ms", "device read or device write"},
		{"device read ^p95 < 5ms", "mean or max"},
		{"order p95 ^500ms", "upper limit"},
		{"order p95 ^> 500ms", "upper limit"},
		{"order p95 ^= 500ms", "upper limit"},
		{"errors ^p95 < 1%", "upper limit"},
		{"opm ^< 60000", "lower limit"},
		{"order p95 < ^", "write a number, such as 500ms"},
		{"order p95 < ^-5ms", "write a number"},
		{"order p95 < ^0ms", "nothing is below 0"},
		{"order p95 < 500^", "needs a unit: us, ms, s or m, such as 500ms"},
		{"order p95 < 500 ^h", "needs a unit"},
		{"errors < 0.1^", "percent sign, such as 0.1%"},
		{"opm > 60^,000", "without a unit"},
		{"order p95 < 500ms ^opm > 5", "ends before this"},
	} {
		before, after, _ := strings.Cut(c.text, "^")
		_, err := Parse(before+after, operations...)
		require.Error(t, err, c.text)
		reason, _, _ := strings.Cut(err.Error(), "\n")
		assert.Contains(t, reason, c.reason, c.text)
		caret := "\n  " + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^"
		assert.True(t, strings.HasSuffix(err.Error(), caret), "caret is out of place:\n%v", err)
	}
}

func FuzzParse(f *testing.F) {
	texts := []string{
		"opm>=6e4",
		"größe \x00\xff < 1s",
		"order p99.9 <= .5 s",
		"device sda write mean < 10ms for 5m",
		"errors < 1%",
	}
	for _, maximum := range presets {
		texts = append(texts, "data read max < "+maximum)
	}
	fuzztest.Run(f, func(t testing.TB, text string) {
		l, err := Parse(text)
		if err != nil {
			require.Equal(t, 2, strings.Count(err.Error(), "\n"), "%q: unfit error %q", text, err)
			return
		}
		again, err := Parse(l.String())
		require.True(
			t,
			err == nil && again == l,
			"%q reads as %#v, and its text as %#v, %v",
			text,
			l,
			again,
			err,
		)
	}, texts...)
}

func TestPresets(t *testing.T) {
	for name := range presets {
		limits, err := ForRun([]string{name}, time.Hour)
		assert.True(t, err == nil && len(limits) > 0, "preset %s: %v, %v", name, limits, err)
	}
	_, err := ForRun([]string{"exchange"}, time.Hour)
	assert.ErrorContains(t, err, "nor a set of limits: exchange2007, exchange2007-stress, "+
		"exchange2013, exchange2013-stress")
	for _, c := range []struct {
		name string
		run  time.Duration
		want string
	}{
		{"exchange2007", 2 * time.Hour, "data read max < 50ms"},
		{"exchange2007", 6 * time.Hour, "data read max < 50ms"},
		{"exchange2007", 24 * time.Hour, "data read max < 100ms"},
		{"exchange2013", 24 * time.Hour, "data read max < 200ms"},
		{"exchange2013-stress", time.Minute, "data read max < 200ms"},
	} {
		limits, err := ForRun([]string{c.name}, c.run)
		require.NoError(t, err)
		assert.Equal(t, c.want, limits[1].String(), "%s over %s", c.name, c.run)
	}
}

// known are figures that are measured.
func known(figures map[Metric]float64) Figures {
	return func(m Metric) (f Figure, measured bool) {
		f.Value, measured = figures[m]
		return f, measured
	}
}

func assertVerdicts(t *testing.T, got result.Verdicts, want ...string) {
	t.Helper()
	var texts []string
	for _, v := range got {
		texts = append(texts, fmt.Sprintf("%t %s: %s", v.OK, v.Limit, v.Value()))
	}
	assert.Equal(t, want, texts)
}

func TestJudge(t *testing.T) {
	limits, err := ParseAll([]string{
		"order p95 < 500ms",
		"order p95 <= 600ms",
		"errors < 0.1%",
		"opm > 60000",
		"device read mean < 20ms",
	})
	require.NoError(t, err)
	measured := known(
		map[Metric]float64{{"order", "p95"}: 0.6, {"errors", ""}: 0.00042, {"opm", ""}: 64973.7},
	)
	got := Judge(limits, measured)
	assertVerdicts(t, got,
		"false order p95 < 500ms: 600ms",
		"true order p95 <= 600ms: 600ms",
		"true errors < 0.1%: 0.042%",
		"true opm > 60000: 64973",
		"false device read mean < 20ms: no samples")
	assert.False(t, UpperHold(got, result.Verdict.Holds), "a missed limit that fewer users keep")
	assert.True(
		t,
		UpperHold(Judge(limits[3:4], known(map[Metric]float64{{"opm", ""}: 1})),
			result.Verdict.Holds),
		"a missed one on OPM",
	)
	assert.True(
		t,
		!got.Passed() && got[1:4].Passed(),
		"one failed limit fails the whole, and none fails nothing",
	)
	assert.Equal(
		t,
		"order p95 < 500ms (measured 600ms), device read mean < 20ms (no samples)",
		got.Which(result.Verdict.Fails),
		"failed",
	)
	// What is only known to be at least so high keeps no upper limit, and fails one that it is
	// above.
	atLeast := func(Metric) (Figure, bool) { return Figure{Value: 0.55, AtLeast: true}, true }
	assertVerdicts(t, Judge(limits[:2], atLeast),
		"false order p95 < 500ms: at least 550ms", "false order p95 <= 600ms: at least 550ms")
}

func TestStrain(t *testing.T) {
	limits, err := ParseAll(
		[]string{"order p95 < 500ms", "purchase p95 < 1s", "errors <= 0%", "opm > 60000"},
	)
	require.NoError(t, err)
	figures := map[Metric]float64{
		{"order", "p95"}:    0.1,
		{"purchase", "p95"}: 0.8,
		{"errors", ""}:      0,
		{"opm", ""}:         1,
	}
	got, err := Strain(Judge(limits, known(figures)))
	require.NoError(t, err)
	assert.Equal(t, 0.8, got, "that of the tightest upper limit")
	figures[Metric{"errors", ""}] = 0.01
	got, err = Strain(Judge(limits, known(figures)))
	require.NoError(t, err)
	assert.Greater(t, got, 1., "with an error where none is allowed")
	delete(figures, Metric{"order", "p95"})
	_, err = Strain(Judge(limits, known(figures)))
	assert.Error(t, err, "a limit without a sample has a strain")
}

// TestCannotTell judges by intervals: of a run by that of its parts, of several by that of their
// mean. Faults and maxima are judged by what was seen.
func TestCannotTell(t *testing.T) {
	limits, err := ParseAll([]string{"order p95 < 500ms", "order max < 1s", "errors <= 0%"})
	require.NoError(t, err)
	run := func(p95, half float64) result.Verdicts {
		return Judge(limits, func(m Metric) (Figure, bool) {
			switch m.Stat {
			case "p95":
				return Figure{Value: p95, Half: &half}, true
			case "max":
				return Figure{Value: .9}, true
			}
			return Figure{}, true
		})
	}
	for _, c := range []struct {
		why        string
		verdicts   result.Verdicts
		kept, open bool
	}{
		{"a run far below", run(.4, .05), true, false},
		{"a run below, within its interval", run(.48, .05), true, true},
		{"a run above, within its interval", run(.52, .05), false, true},
		{"a run far above", run(.6, .05), false, false},
		{"runs far below, one of them above", Together([]result.Verdicts{
			run(.40, .01), run(.41, .01), run(.43, .01), run(.44, .01), run(.42, .01), run(.51, .01),
		}), true, false},
		{
			"runs that vary",
			Together([]result.Verdicts{run(.4, .01), run(.44, .01), run(.49, .01)}), true, true,
		},
		{
			"runs that vary about it", Together([]result.Verdicts{run(.4, .01), run(.6, .01)}),
			false, true,
		},
		{
			"runs far above",
			Together([]result.Verdicts{run(.6, .01), run(.61, .01), run(.62, .01)}), false, false,
		},
		{"runs that vary less than each of them", Together([]result.Verdicts{
			run(.4800, .05), run(.4801, .05), run(.4802, .05),
		}), true, true},
		{"one of them failed", Together([]result.Verdicts{run(.4, .01), nil}), false, false},
	} {
		assert.Equal(t, c.kept, c.verdicts[0].OK, c.why)
		assert.Equal(t, c.open, c.verdicts[0].CannotTell, c.why)
		for _, seen := range c.verdicts[1:] {
			assert.Nil(t, seen.Low, "%s: %s", c.why, seen.Limit)
		}
	}
}
