package limit

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
)

// operations are some that a workload may have.
var operations = []string{"browse", "browse_by_actor", "login", "order", "purchase"}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		why, text string
		want      Limit
	}{
		{"a percentile of the order", "order p95 < 500ms", Limit{Metric{"order", "p95"}, Below, 0.5, "order p95 < 500ms"}},
		{"an operation, in seconds", "purchase p99 <= 1s", Limit{Metric{"purchase", "p99"}, AtMost, 1, "purchase p99 <= 1s"}},
		{"all browses together", "browse mean < 20ms", Limit{Metric{"browse", "mean"}, Below, 0.02, "browse mean < 20ms"}},
		{"a name with underscores", "browse_by_actor max < 2m", Limit{Metric{"browse_by_actor", "max"}, Below, 120, "browse_by_actor max < 2m"}},
		{"a fine percentile", "login p99.9 < 250us", Limit{Metric{"login", "p99.9"}, Below, 250e-6, "login p99.9 < 250us"}},
		{"a share", "errors < 0.1%", Limit{Metric{"errors", ""}, Below, 0.001, "errors < 0.1%"}},
		{"no error at all", "errors <= 0%", Limit{Metric{"errors", ""}, AtMost, 0, "errors <= 0%"}},
		{"two words of a device", "device write max < 50ms", Limit{Metric{"device write", "max"}, Below, 0.05, "device write max < 50ms"}},
		{"a rate has a lower limit", "opm > 60000", Limit{Metric{"opm", ""}, Above, 60000, "opm > 60000"}},
		{"no blanks needed around signs", "opm>=60000", Limit{Metric{"opm", ""}, AtLeast, 60000, "opm >= 60000"}},
		{"blanks wherever one likes", "\t order  p95 <\n0.5 s ", Limit{Metric{"order", "p95"}, Below, 0.5, "order p95 < 0.5s"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, err := Parse(c.text, operations...)
			require.NoError(t, err)
			if d := got.Bound - c.want.Bound; d > 1e-12 || d < -1e-12 {
				t.Errorf("bound %v, want %v", got.Bound, c.want.Bound)
			}
			got.Bound = c.want.Bound // 0.1 * 0.01 is not 0.001 in binary
			assert.Equal(t, c.want, got)
		})
	}
}

// TestParseFault checks the message and that the caret, shown here in the text as ^ before the fault, is in its place.
func TestParseFault(t *testing.T) {
	for _, c := range []struct{ text, reason string }{
		{"^", "unknown figure"},
		{"^orders p95 < 500ms", `unknown figure "orders"; known: browse, `},
		{"order ^< 500ms", "needs a statistic"},
		{"order ^p0 < 500ms", "needs a statistic"},
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
		{"opm > 60000^/min", "without a unit"},
		{"order p95 < 500ms ^opm > 5", "ends before this"},
	} {
		t.Run(c.text, func(t *testing.T) {
			at := strings.Index(c.text, "^")
			_, err := Parse(c.text[:at]+c.text[at+1:], operations...)
			fault, ok := errors.AsType[*SyntaxError](err)
			require.True(t, ok, "got %v", err)
			if fault.Offset != at || !strings.Contains(fault.Reason, c.reason) {
				t.Errorf("at %d, want %d:\n%v", fault.Offset, at, err)
			}
			if want := "\n  " + strings.Repeat(" ", at) + "^"; !strings.HasSuffix(err.Error(), want) {
				t.Errorf("caret is out of place:\n%v", err)
			}
		})
	}
}

func TestCaretCountsCharacters(t *testing.T) {
	err := &SyntaxError{Text: "größe x", Offset: len("größe "), Reason: "r"}
	assert.Equal(t, "r\n  größe x\n        ^", err.Error(), "got %q", err)
}

func FuzzParse(f *testing.F) {
	texts := []string{"opm>=6e4", "größe \x00\xff < 1s", "order p99.9 <= .5 s", "device sda write mean < 10ms for 5m", "errors < 1%"}
	for _, preset := range presets {
		texts = append(texts, preset...)
	}
	fuzztest.Run(f, func(t testing.TB, text string) {
		l, err := Parse(text)
		if err != nil {
			fault, ok := errors.AsType[*SyntaxError](err)
			if !ok || fault.Offset < 0 || fault.Offset > len(text) || strings.Count(err.Error(), "\n") != 2 {
				t.Fatalf("%q: unfit error %q", text, err)
			}
			return
		}
		again, err := Parse(l.String())
		require.True(t, err == nil && again == l, "%q reads as %#v, and its text as %#v, %v", text, l, again, err)
	}, texts...)
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		stat string
		want float64
		is   bool
	}{{"p95", 0.95, true}, {"p99.9", 0.999, true}, {"max", 1, true}, {"mean", 0, false}, {"", 0, false}} {
		got, is := Metric{"order", c.stat}.Quantile()
		if is != c.is || is && (got < c.want-1e-9 || got > c.want+1e-9) {
			t.Errorf("quantile of %q is %v, %v", c.stat, got, is)
		}
	}
}

func TestPresets(t *testing.T) {
	for name := range presets {
		if limits, err := ForRun([]string{name}, time.Hour); err != nil || len(limits) == 0 {
			t.Errorf("preset %s: %d limits, %v", name, len(limits), err)
		}
	}
	if _, err := ForRun([]string{"exchange"}, time.Hour); err == nil || !strings.Contains(err.Error(), "no set of limits: exchange2007, exchange2007-stress, exchange2007-strict, exchange2013, exchange2013-stress, exchange2013-strict, jetstress") {
		t.Errorf("an unknown preset gives %v", err)
	}
}

func TestJudge(t *testing.T) {
	limits, err := ParseAll([]string{"order p95 < 500ms", "order p95 <= 600ms", "errors < 0.1%", "opm > 60000", "device read mean < 20ms"})
	require.NoError(t, err)
	measured := map[Metric]float64{{"order", "p95"}: 0.6, {"errors", ""}: 0.00042, {"opm", ""}: 64973.7}
	got := Judge(limits, func(m Metric) (float64, bool, bool) { v, ok := measured[m]; return v, false, ok })
	want := []string{
		"FAIL order p95 < 500ms (measured 600ms)",
		"PASS order p95 <= 600ms (measured 600ms)",
		"PASS errors < 0.1% (measured 0.042%)",
		"PASS opm > 60000 (measured 64973)",
		"FAIL device read mean < 20ms (no samples)",
	}
	for i := range want {
		if got[i].String() != want[i] {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
	if UpperHold(got) || !UpperHold(Judge(limits[3:4], func(Metric) (float64, bool, bool) { return 1, false, true })) {
		t.Error("a missed limit on OPM is not one that fewer users keep, the others are")
	}
	assert.True(t, !Passed(got) && Passed(got[1:4]), "one failed limit fails the whole, and none fails nothing")
	assert.Equal(t, "order p95 < 500ms (measured 600ms), device read mean < 20ms (no samples)", Failed(got), "failed")
}

func TestStrain(t *testing.T) {
	limits, err := ParseAll([]string{"order p95 < 500ms", "purchase p95 < 1s", "errors <= 0%", "opm > 60000"})
	require.NoError(t, err)
	figures := map[Metric]float64{{"order", "p95"}: 0.1, {"purchase", "p95"}: 0.8, {"errors", ""}: 0, {"opm", ""}: 1}
	strain := func() (float64, error) {
		return Strain(Judge(limits, func(m Metric) (float64, bool, bool) { v, ok := figures[m]; return v, false, ok }))
	}
	if got, err := strain(); err != nil || got != 0.8 {
		t.Errorf("strain %v, %v; want that of the tightest upper limit, 0.8", got, err)
	}
	figures[Metric{"errors", ""}] = 0.01
	if got, err := strain(); err != nil || got <= 1 {
		t.Errorf("strain %v, %v with an error where none is allowed", got, err)
	}
	delete(figures, Metric{"order", "p95"})
	_, err = strain()
	assert.Error(t, err, "a limit without a sample has a strain")
}

func TestPresetsOfStressTests(t *testing.T) {
	for _, c := range []struct {
		name string
		run  time.Duration
		want string
	}{
		{"exchange2007", 2 * time.Hour, "data read max < 50ms"},
		{"exchange2007", 6 * time.Hour, "data read max < 50ms"},
		{"exchange2007", 24 * time.Hour, "data read max < 100ms"},
		{"jetstress", 24 * time.Hour, "data read max < 100ms"},
		{"exchange2007-strict", 24 * time.Hour, "data read max < 50ms"},
		{"exchange2013", 24 * time.Hour, "data read max < 200ms"},
		{"exchange2013-strict", 24 * time.Hour, "data read max < 100ms"},
		{"exchange2013-stress", time.Minute, "data read max < 200ms"},
	} {
		limits, err := ForRun([]string{c.name}, c.run)
		if err != nil || !slices.ContainsFunc(limits, func(l Limit) bool { return l.String() == c.want }) {
			t.Errorf("%s over %s: %v, %v; want %s among them", c.name, c.run, limits, err, c.want)
		}
	}
}

// TestLowerBounds: what is only known to be at least so high keeps no upper limit, and fails one that it is above.
func TestLowerBounds(t *testing.T) {
	limits, err := ParseAll([]string{"order p99 < 500ms", "order p99 < 20s", "dropped < 0.1%"}, "order")
	require.NoError(t, err)
	got := Judge(limits, func(m Metric) (float64, bool, bool) {
		if m.Subject == "dropped" {
			return 0.008, false, true
		}
		return 10, true, true
	})
	for i, want := range []string{"FAIL order p99 < 500ms (measured at least 10s)", "FAIL order p99 < 20s (measured at least 10s)", "FAIL dropped < 0.1% (measured 0.8%)"} {
		if got[i].String() != want {
			t.Errorf("got %q, want %q", got[i], want)
		}
	}
}
