package limit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
)

func TestParseGate(t *testing.T) {
	for text, want := range map[string]Gate{
		"opm < -5 %":               {"opm < -5 %", "opm", Below, -5},
		"\tOPM<-5%":                {"OPM<-5%", "opm", Below, -5},
		"order p95 > +10 %":        {"order p95 > +10 %", "order p95", Above, 10},
		"errors > 0":               {"errors > 0", "errors", Above, 0},
		"bytes read per order>.5%": {"bytes read per order>.5%", "bytes read per order", Above, .5},
	} {
		got, err := ParseGate(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{
		"^", "opm^", "opm ^<= 5 %", "opm < ^", "opm < ^- 5 %", "opm < 5^", "errors > 5^%",
		"opm < 5 % ^or so", "^< 5 %", "opm < ^1.2.3 %",
	} {
		before, after, _ := strings.Cut(text, "^")
		_, err := ParseGate(before + after)
		require.ErrorContains(t, err, "such as 'opm < -5 %'", text)
		caret := "\n  " + strings.Repeat(" ", len(before)) + "^"
		assert.True(t, strings.HasSuffix(err.Error(), caret), "caret is out of place:\n%v", err)
	}
}

func TestParseRange(t *testing.T) {
	for text, want := range map[string]Range{
		"6": {6, 6}, " 5..9 ": {5, 9}, "5 .. 9": {5, 9}, "1000": {1000, 1000},
	} {
		got, err := ParseRange(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{
		"", "many", "5.9", "5...9", "5..", "..9", "5..9..12", "-5", "9..3", "0", "1..1001", "1e3",
		"99999999999999999999",
	} {
		_, err := ParseRange(text)
		assert.Error(t, err, text)
	}
}

func FuzzParseRange(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		ParseGate(text)
		r, err := ParseRange(text)
		if err != nil {
			return
		}
		again, err := ParseRange(r.String())
		require.NoError(t, err)
		require.Equal(t, r, again)
	}, "5..9", "6", "opm < -5 %", "\xff<\x00")
}
