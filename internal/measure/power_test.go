package measure

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPower: more blocks show less, and what a change could have shown agrees with how many more it takes.
func TestPower(t *testing.T) {
	six := Smallest(2, 2, 6, false)
	assert.InDelta(t, 4.5, six, .3)
	assert.Less(t, Smallest(2, 2, 9, false), six)
	assert.Greater(t, Smallest(2, 2, 6, true), six)
	assert.Less(t, Smallest(2, 4, 6, false), six)
}
