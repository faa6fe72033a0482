package driver

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
)

// BenchmarkDriver is the driver's cost per order besides the store, by the number of users:
// drawing, timing, measuring and switching between users. The store answers 20,000 calls a second
// however many users share it, about as much as a PostgreSQL in memory does on two CPUs, so that
// OPM differs by what the driver itself loses.
func BenchmarkDriver(b *testing.B) {
	for _, users := range []int{32, 1000} {
		b.Run(fmt.Sprintf("users=%d", users), func(b *testing.B) {
			b.ReportAllocs()
			c := config(&simulation{service: time.Duration(users) * time.Second / 20_000})
			c.Threads = users
			c.RampRate = 1e6
			c.WarmupTime.Duration = 0
			c.RunTime.Duration = 0
			d := New(c, &series{}, quiet)
			stop, end := context.WithCancel(b.Context())
			go func() {
				defer end()
				for d.Meter().Totals()[0].Counts.Orders < int64(b.N) {
					time.Sleep(10 * time.Millisecond)
				}
			}()
			b.ResetTimer()
			before := processCPU(b)
			if err := d.Run(b.Context(), stop); err != nil && !errors.Is(err, ErrStopped) {
				b.Fatal(err)
			}
			orders := float64(d.Meter().Totals()[0].Counts.Orders)
			b.ReportMetric(float64((processCPU(b)-before).Microseconds())/orders, "cpu-µs/order")
			b.ReportMetric(orders/b.Elapsed().Minutes(), "OPM")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// processCPU is the CPU time of this process so far.
func processCPU(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestOrderAllocatesNothing plays orders from the draw to the record, without a store.
func TestOrderAllocatesNothing(t *testing.T) {
	plan := ds2.Plan{
		Config: ds2.Config{
			Size:            datagen.S,
			Words:           datagen.DefaultWords(),
			PctNewCustomers: 20,
			Searches:        3,
			SearchBatchSize: 5,
			LineItems:       5,
		},
		Targets: []ds2.Target{(&simulation{}).Connect}, // which answers at once
	}
	c := Config{
		Operations: plan.Workload().Operations(), Counts: calls.Counts, Play: plan.Begin(""),
		Spec:    result.Spec{Targets: []string{"simulation"}, Threads: 1, RampRate: 1},
		Started: func(time.Time) {}, Began: func(time.Time) {},
		Lost: func(error) {}, Delayed: func(error) {},
	}
	c.OperationTimeout.Duration = time.Minute
	d := New(c, &series{}, quiet)
	d.ctx = t.Context()
	d.stop, d.halt = context.WithCancelCause(d.ctx)
	u := d.users[0]
	require.NoError(t, u.attemptOperation(opConnect))
	for second := range 2 { // until what it gathers in has grown
		for range 20_000 {
			u.playOrder(time.Now())
		}
		d.meter.Sample(time.Duration(second+1)*time.Second, make([]measure.Users, 1))
	}
	require.Zero(t, testing.AllocsPerRun(10_000, func() {
		u.playOrder(time.Now())
	}), "allocations of an order")
}
