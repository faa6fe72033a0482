package compare

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/limit"
	"ds2/internal/result"
)

// TestUnknownFigure: what is said to be known beside an unknown figure can be asked for, each name
// as it stands there, although some hold commas.
func TestUnknownFigure(t *testing.T) {
	words := result.Words{Cycle: "order", Cycles: "orders", Unit: result.OPM}
	bench := result.Bench{Spec: result.Spec{Words: words}}
	c := WithFirst([]Configuration{{Name: "a", Bench: bench}, {Name: "b", Bench: bench}})
	judge := func(text string) error {
		gate, err := limit.ParseGate(text)
		require.NoError(t, err, text)
		return c.Judge(gate)
	}
	err := judge("tps < -5 %")
	require.ErrorContains(t, err, `unknown figure "tps"`)
	_, known, _ := strings.Cut(err.Error(), "figures are ")
	commas := false
	for name := range strings.SplitSeq(known, "; ") {
		gate := name + " < -5 %"
		if name == limit.ErrorGate {
			gate = name + " > 0"
		}
		require.NoError(t, judge(gate))
		commas = commas || strings.Contains(name, ",")
	}
	require.True(t, commas, "names that hold commas: %s", known)
}
