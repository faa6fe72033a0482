package conclude

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/topology"
)

// TestBurstEnd: a window that a burst reaches into is not to be had later; one after it is.
func TestBurstEnd(t *testing.T) {
	in := Input{}
	in.Machine = &topology.Machine{Vendor: "Amazon EC2", Product: "m5.large"}
	for second := range int64(900) {
		counts := measure.Counts{Orders: 1000}
		if second >= 400 {
			counts.Orders = 250
		}
		end := time.Duration(second+1) * time.Second
		in.Series.Samples = append(in.Series.Samples, measure.Sample{
			End: end, Length: time.Second, Phase: measure.PhaseRun, Counts: counts,
		})
	}
	within := newView(in, &measure.Window{From: 100, To: 300}).findBurstEnd()
	assert.Len(t, within, 1)
	assert.Equal(t, result.BurstEnded, within[0].Kind)
	assert.Contains(t, within[0].Words(), "400 s after the begin the rate fell by 75")
	assert.Contains(t, within[0].Words(), "m5.large, which may be faster for up to 30 minutes")
	assert.Empty(t, newView(in, &measure.Window{From: 500, To: 800}).findBurstEnd())

	in.Machine = nil
	assert.Contains(t, newView(in, &measure.Window{To: 800}).findBurstEnd()[0].Words(), "credits")
	in.Events = []result.Event{{}}
	assert.Empty(t, newView(in, &measure.Window{To: 800}).findBurstEnd())
}
