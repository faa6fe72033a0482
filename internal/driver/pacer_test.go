package driver

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPacer finds the rate on simulated stores, whose I/Os an operation are not what they were when the rate was set,
// scatter and drift: the target is met within 2 % and the rate then kept.
func TestPacer(t *testing.T) {
	for _, c := range []struct {
		name             string
		calibrated, real float64 // I/Os an operation
		scatter          float64 // σ of a sample's, as a share
	}{
		{"as calibrated", 2, 2, 0.003},
		{"half as many were measured with empty buffers", 1, 2, 0.003},
		{"three times as many", 6, 2, 0.003},
		{"a noisy store", 2.2, 2, 0.008},
	} {
		t.Run(c.name, func(t *testing.T) {
			const target = 250.0
			random := rand.New(rand.NewPCG(1, 7))
			p := NewPacer(target, 400, 400*c.calibrated)
			store := func() float64 { return p.Rate() * c.real * (1 + c.scatter*random.NormFloat64()) }
			samples := 0
			for !p.Frozen() {
				samples++
				require.LessOrEqual(t, samples, 60, "not settled; rate %g", p.Rate())
				before := p.Rate()
				p.Sample(p.Rate(), store())
				require.InDelta(t, 1, p.Rate()/before, .1+1e-9, "the rate changes at once")
			}
			frozen, sum := p.Rate(), 0.0
			const window = 80 // samples
			for range window {
				iops := store()
				sum += iops
				p.Sample(p.Rate(), 3*iops)
			}
			assert.Equal(t, frozen, p.Rate(), "a frozen rate changes")
			assert.InEpsilon(t, target, sum/window, Tolerance)
			t.Logf("settled after %d samples, achieved %.1f", samples, sum/window)
		})
	}
}

// TestPacerOfSlowStore: a store that cannot do the target is not offered ever more.
func TestPacerOfSlowStore(t *testing.T) {
	p := NewPacer(1000, 200, 400)
	for range 100 {
		done := min(p.Rate(), 300)
		p.Sample(done, 2*done)
	}
	assert.False(t, p.Frozen())
	assert.True(t, p.Limited())
	assert.LessOrEqual(t, p.Rate(), 550.)
}

// TestPacerOfBursts: I/Os that come in bursts settle no rate; the one that is kept at last is right on average.
func TestPacerOfBursts(t *testing.T) {
	const target = 400.0
	p := NewPacer(target, 100, 250)
	perOrder := func(sample int) float64 { // 3.75 on average
		if sample%4 == 3 {
			return 7.5
		}
		return 2.5
	}
	for sample := range 3 * Averaged {
		p.Sample(p.Rate(), p.Rate()*perOrder(sample))
	}
	require.False(t, p.Frozen(), "settled, though no samples in a row agree")
	before := p.Rate()
	p.Freeze()
	assert.True(t, p.Frozen())
	assert.InEpsilon(t, target, 3.75*p.Rate(), Tolerance, "I/Os a second on average")
	assert.Greater(t, math.Abs(3.75*before-target), Tolerance*target, "before")
}
