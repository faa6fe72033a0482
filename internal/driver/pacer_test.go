package driver

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPacer finds the rate on simulated stores, whose I/Os per operation are not what they were
// when the rate was set, variation and drift: the target is met within 2 % and the rate then kept.
func TestPacer(t *testing.T) {
	for _, c := range []struct {
		name             string
		calibrated, real float64 // I/Os per operation
		variation        float64 // σ of a sample's, as a share
	}{
		{"as calibrated", 2, 2, 0.003},
		{"half as many were measured with empty buffers", 1, 2, 0.003},
		{"three times as many", 6, 2, 0.003},
		{"a noisy store", 2.2, 2, 0.008},
	} {
		t.Run(c.name, func(t *testing.T) {
			const target = 250.0
			random := rand.New(rand.NewPCG(1, 7))
			p := NewPacer(target, 10, 400, 400*c.calibrated)
			store := func() float64 {
				return p.Rate * c.real * (1 + c.variation*random.NormFloat64())
			}
			samples := 0
			for !p.Frozen {
				samples++
				require.LessOrEqual(t, samples, 60, "not settled; rate %g", p.Rate)
				before := p.Rate
				p.Sample(p.Rate, store()/before)
				require.InDelta(t, 1, p.Rate/before, .1+1e-9, "the rate changes at once")
			}
			frozen := p.Rate
			sum := 0.0
			const window = 80 // samples
			for range window {
				iops := store()
				sum += iops
				p.Sample(p.Rate, 3*iops/p.Rate)
			}
			assert.Equal(t, frozen, p.Rate, "a frozen rate changes")
			assert.InEpsilon(t, target, sum/window, Tolerance)
			t.Logf("settled after %d samples, achieved %.1f", samples, sum/window)
		})
	}
}

// TestPacerOfSlowStore: a store that cannot do the target is not offered ever more.
func TestPacerOfSlowStore(t *testing.T) {
	p := NewPacer(1000, 10, 200, 400)
	for range 100 {
		done := min(p.Rate, 300)
		p.Sample(done, 2)
	}
	assert.False(t, p.Frozen)
	assert.True(t, p.Limited)
	assert.LessOrEqual(t, p.Rate, 550.)
}

// TestPacerThatDrifts: a rate that does not settle is kept by the average in the end, and its
// spread says why.
func TestPacerThatDrifts(t *testing.T) {
	p := NewPacer(400, 4, 100, 250)
	each := 2.5
	for range 12 {
		each *= 1.1
		p.Sample(p.Rate, each)
	}
	require.False(t, p.Frozen, "settled, though an order takes ever more I/Os")
	p.Freeze()
	assert.True(t, p.Frozen)
	assert.InDeltaSlice(t, []float64{2.5 * 1.1, each}, []float64{p.Least, p.Most}, 1e-9)
	assert.InDelta(t, 400/each, p.Rate, 1e-9)
}
