package durability

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestMoments draws cuts: the same of one seed, at times around the mean, a third of each kind.
func TestMoments(t *testing.T) {
	p := Plan{After: 10 * time.Second, Cycles: 300, Seed: 1}
	all := p.moments()
	assert.Equal(t, p.moments(), all, "the same seed gave other moments")
	p.Seed = 2
	assert.False(t, reflect.DeepEqual(all, p.moments()), "another seed gave the same moments")
	kinds, sum := map[string]int{}, time.Duration(0)
	for _, m := range all {
		kinds[m.kind]++
		sum += m.wait
		assert.True(t, m.wait >= 5*time.Second && m.wait <= 15*time.Second, "a cut after %s, want 5 s to 15 s", m.wait)
	}
	assert.InDelta(t, 10, sum.Seconds()/300, 1, "seconds between cuts")
	assert.Equal(t, map[string]int{atRandom: 100, atCheckpoint: 100, atBurst: 100}, kinds)
}
