package sqlserver

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/driver"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/tdstest"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
)

// TestRunSurvivesRestart has two users order from a server that restarts, without a database behind
// it: orders are answered as they were recorded, and logins as SQL Server answers them while it
// stops, starts, and takes logins though the database is still being recovered.
func TestRunSurvivesRestart(t *testing.T) {
	stages := []tdstest.Decision{
		tdstest.Refuse(
			tdstest.Error(
				17188,
				1,
				16,
				"SQL Server cannot accept new connections, because it is being shut down.",
			),
		),
		{Close: true, Answer: []byte{0}}, // no answer
		tdstest.Refuse(
			tdstest.Error(
				17187,
				1,
				16,
				"SQL Server is not ready to accept new client connections.",
			),
		),
		tdstest.NoDatabase,                  // recovering
		tdstest.Refuse(tdstest.LoginFailed), // state 38
		tdstest.FallsBack,
	}
	var stopped atomic.Bool
	var logins atomic.Int64 // since then
	decide := func(tdstest.Login) tdstest.Decision {
		if stopped.Load() {
			if n := int(logins.Add(1)) - 1; n < len(stages) {
				return stages[n]
			}
		}
		return tdstest.Decision{}
	}
	server := tdstest.Start(t, tdstest.Options{Request: recorded(t), Decide: decide})
	s := openURL(t, server.URL("DS2"))
	plan := ds2.Plan{
		Config: ds2.Config{
			Size: datagen.Size{
				Customers:      100,
				OrdersPerMonth: 10,
				Products:       5,
			}, // as many as have recorded prices
			Words:           datagen.DefaultWords(),
			PctNewCustomers: 20,
			Searches:        3,
			SearchBatchSize: 5,
			LineItems:       5,
		},
		Targets: []ds2.Target{func(ctx context.Context) (calls.Session, error) {
			return Connect(ctx, s)
		}},
	}
	c := driver.Config{
		Operations: plan.Workload().Operations(),
		Counts:     calls.Counts,
		Play:       plan.Begin(""),
		Spec: result.Spec{
			Targets:    []string{s.Label()},
			Threads:    2,
			Seed:       7,
			RampRate:   100,
			MaxRetries: 20,
		},
		Interval: 10 * time.Second,
		Started:  func(time.Time) {}, Began: func(time.Time) {},
		Lost: func(error) {}, Delayed: func(error) {},
	}
	c.ThinkTime.Duration = 5 * time.Millisecond
	c.DrainTime.Duration = time.Minute
	c.OperationTimeout.Duration = time.Minute
	d := driver.New(c, nothing{}, slog.New(slog.DiscardHandler))
	stop, end := context.WithCancel(t.Context())
	go func() {
		defer end()
		done := func() measure.Counts { return d.Meter().Totals()[0].Counts }
		await := func(reached func() bool) {
			for !reached() && t.Context().Err() == nil {
				time.Sleep(10 * time.Millisecond)
			}
		}
		await(func() bool { return done().Orders >= 10 })
		stopped.Store(true)
		server.Drop()
		await(func() bool { return int(logins.Load()) >= len(stages) })
		await(func() bool { return done().Reconnects >= 2 })
		then := done().Orders
		await(func() bool { return done().Orders >= then+20 })
	}()
	err := d.Run(t.Context(), stop)
	require.True(t, err == nil || errors.Is(err, driver.ErrStopped), "%v", err)
	done := d.Meter().Totals()[0].Counts
	assert.EqualValues(t, 2, done.Reconnects)
	assert.LessOrEqual(t, done.GivenUp, calls.Count(done, calls.InDoubtPurchases))
	assert.GreaterOrEqual(t, done.Orders, int64(30))
}

// nothing is a driver.Sink that keeps nothing.
type nothing struct{}

func (nothing) Sample(measure.Sample) error     { return nil }
func (nothing) Interval(measure.Interval) error { return nil }
