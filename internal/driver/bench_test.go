package driver

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"
)

// BenchmarkDriver is what an order costs the driver besides the store, by the number of users: drawing, timing and
// measuring it.
func BenchmarkDriver(b *testing.B) {
	for _, users := range []int{1, 32} {
		b.Run(fmt.Sprintf("users=%d", users), func(b *testing.B) {
			b.ReportAllocs()
			c := config(&simulation{})
			c.Threads, c.RampRate, c.Warmup, c.Run = users, 1e6, 0, 0
			d := New(c, &series{}, slog.New(slog.DiscardHandler))
			stop := make(chan struct{})
			go func() {
				for d.Meter().Totals()[0].Counts.Orders < int64(b.N) {
					time.Sleep(10 * time.Millisecond)
				}
				close(stop)
			}()
			b.ResetTimer()
			if _, err := d.Run(b.Context(), stop); err != nil && !errors.Is(err, ErrStopped) {
				b.Fatal(err)
			}
			orders := d.Meter().Totals()[0].Counts.Orders
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(orders), "ns/order")
			b.ReportMetric(d.Meter().Progress().Cumulative, "OPM")
			b.ReportMetric(0, "ns/op")
		})
	}
}
