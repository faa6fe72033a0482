package driver

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
)

// TestOrderAllocatesNothing plays orders from the draw to the record, without a store.
func TestOrderAllocatesNothing(t *testing.T) {
	plan := ds2.Plan{
		Config: ds2.Config{
			Size: datagen.S, Words: datagen.DefaultWords(), PctNewCustomers: 20, Searches: 3, SearchBatchSize: 5,
			LineItems: 5,
		},
		Targets: []ds2.Target{(&simulation{}).Connect}, // which answers at once
	}
	c := Config{
		Operations: plan.Workload().Operations(), Counts: calls.Counts, Play: plan.Begin(""),
		Spec: result.Spec{Targets: []string{"simulation"}, Threads: 1, RampRate: 1},
	}
	c.OperationTimeout.Duration = time.Minute
	d := New(c, &series{}, quiet)
	d.ctx = t.Context()
	d.stop, d.halt = context.WithCancelCause(d.ctx)
	u := d.users[0]
	require.NoError(t, u.attempt(opConnect))
	for second := range 2 { // until what it gathers in has grown
		for range 20_000 {
			u.play(time.Now())
		}
		d.meter.Sample(time.Duration(second+1)*time.Second, make([]measure.Users, 1))
	}
	require.Zero(t, testing.AllocsPerRun(10_000, func() { u.play(time.Now()) }), "allocations of an order")
}
