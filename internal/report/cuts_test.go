package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/result"
)

func TestCutsNote(t *testing.T) {
	for want, c := range map[string]*result.Cuts{
		"": nil,
		"20 cuts, 1.2 million acknowledged, 0 lost: at most 14 % of cuts lose anything, at 95 %.": {Planned: 20,
			Cuts: make([]result.Cut, 20), Acknowledged: 1_200_000, To: 0.1391},
		"100 cuts, 812,000 acknowledged, 0 lost: at most 3.0 % of cuts lose anything, at 95 %.": {Planned: 100,
			Cuts: make([]result.Cut, 100), Acknowledged: 812_000, To: 0.02951},
		"20 cuts, 4,000 acknowledged, 31 lost, after 5 of the cuts something: at least 8.7 % and at most 49 % of cuts lose something, each at 95 %.": {Planned: 20,
			Cuts: make([]result.Cut, 20), Acknowledged: 4000, Lost: 31, Lossy: 5, From: 0.0866, To: 0.491},
		"1 cut of 3, 90 acknowledged, 2 lost, after each of them something: at least 5.0 % of cuts lose something, at 95 %.": {Planned: 3,
			Cuts: make([]result.Cut, 1), Acknowledged: 90, Lost: 2, Lossy: 1, From: 0.05, To: 1},
		"3 cuts, 90 acknowledged, 0 lost; before 1 of the cuts nothing was acknowledged, and they show nothing: at most 78 % of cuts lose anything, at 95 %.": {Planned: 3,
			Cuts: make([]result.Cut, 3), Acknowledged: 90, Idle: 1, To: 0.776},
		"3 cuts, 0 acknowledged, 0 lost; before 3 of the cuts nothing was acknowledged, and they show nothing.": {Planned: 3,
			Cuts: make([]result.Cut, 3), Idle: 3, To: 1},
	} {
		assert.Equal(t, want, cutsNote(c))
	}
}
