package monitor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/topology"
)

// TestBursts: a run that is no longer than a burst is told apart from one that outlasts it.
func TestBursts(t *testing.T) {
	for run, want := range map[time.Duration]string{
		0: MayBurst, 20 * time.Minute: WithinBurst, 30 * time.Minute: WithinBurst,
		time.Hour: MayBurst,
	} {
		found := findBursts(&topology.Machine{Vendor: "Amazon EC2", Product: "m5.large"}, run)
		if assert.Len(t, found, 1) {
			assert.Equal(t, want, found[0].Kind, run)
			assert.Equal(t, "m5.large", found[0].Of)
		}
	}
	assert.Empty(t, findBursts(nil, time.Minute))
}
