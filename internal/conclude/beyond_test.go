package conclude

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/result"
	"ds2/internal/sampling"
)

// TestBeyondDevice: no run takes more of a device than it can do, so the record is of another one.
func TestBeyondDevice(t *testing.T) {
	for share, want := range map[float64]int{1.04: 0, 2.06: 1} {
		found := seen(sampling.Table{}, ofWindow(0, 1)).shown(result.Evidence{DeviceMost: &share})
		assert.Len(t, found, want, "%v: %q", share, found)
	}
}
