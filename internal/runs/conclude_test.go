package runs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestClockPutBack: a run during which the time of day was put back does not end before its start.
func TestClockPutBack(t *testing.T) {
	start := time.Now().Add(time.Hour).Round(0) // by the time of day alone
	assert.False(t, endSince(start).Before(start))
	start = time.Now().Add(-time.Hour)
	assert.WithinDuration(t, time.Now(), endSince(start), time.Minute)
}
