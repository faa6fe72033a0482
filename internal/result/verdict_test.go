package result

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestValueOfRate: a rate that misses its lower limit does not seem to meet it, and is no other
// than the figure beside it.
func TestValueOfRate(t *testing.T) {
	for measured, want := range map[float64]string{207.943: "207.9", 99.99: "99.9", 65123.9: "65123"} {
		assert.Equal(t, want, Verdict{Unit: UnitIOPS, Measured: &measured}.Value())
	}
}
