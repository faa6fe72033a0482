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
		w := Observer{Machine: &topology.Machine{Vendor: "Amazon EC2", Product: "m5.large"}}
		w.findBursts(run)
		if assert.Len(t, w.Found, 1) {
			assert.Equal(t, want, w.Found[0].Kind, run)
			assert.Equal(t, "m5.large", w.Found[0].Of)
		}
	}
	w := Observer{}
	w.findBursts(time.Minute)
	assert.Empty(t, w.Found)
}
