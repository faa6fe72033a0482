package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/result"
)

func TestCutsNote(t *testing.T) {
	for _, c := range []struct {
		n    int
		cuts result.Cuts
		want string
	}{
		{0, result.Cuts{}, ""},
		{20, result.Cuts{Planned: 20, Acknowledged: 1_200_000, To: 0.1391},
			"20 cuts, 1.2 million acknowledged, 0 lost: at most 14 % of cuts lose anything, at 95 %."},
		{100, result.Cuts{Planned: 100, Acknowledged: 812_000, To: 0.02951},
			"100 cuts, 812,000 acknowledged, 0 lost: at most 3.0 % of cuts lose anything, at 95 %."},
		{20, result.Cuts{Planned: 20, Acknowledged: 4000, Lost: 31, Lossy: 5, From: 0.0866, To: 0.491},
			"20 cuts, 4,000 acknowledged, 31 lost, after 5 of the cuts something: " +
				"at least 8.7 % and at most 49 % of cuts lose something, each at 95 %."},
		{1, result.Cuts{Planned: 3, Acknowledged: 90, Lost: 2, Lossy: 1, From: 0.05, To: 1},
			"1 cut of 3, 90 acknowledged, 2 lost, after each of them something: " +
				"at least 5.0 % of cuts lose something, at 95 %."},
		{3, result.Cuts{Planned: 3, Acknowledged: 90, Idle: 1, To: 0.776},
			"3 cuts, 90 acknowledged, 0 lost; before 1 of the cuts nothing was acknowledged, and they show nothing: " +
				"at most 78 % of cuts lose anything, at 95 %."},
		{3, result.Cuts{Planned: 3, Idle: 3, To: 1},
			"3 cuts, 0 acknowledged, 0 lost; before 3 of the cuts nothing was acknowledged, and they show nothing."},
	} {
		c.cuts.Cuts = make([]result.Cut, c.n)
		assert.Equal(t, c.want, cutsNote(&c.cuts))
	}
	assert.Empty(t, cutsNote(nil))
}
