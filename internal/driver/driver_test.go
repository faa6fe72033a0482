package driver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"ds2/datagen"
	"ds2/internal/measure"
	"ds2/internal/store"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
	"ds2/internal/workload/ds2/counts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// series is a Sink that keeps what it is given.
type series struct {
	measure.Series
	err error
}

func (s *series) Sample(sample measure.Sample) error {
	s.Samples = append(s.Samples, sample)
	return s.err
}

func (s *series) Interval(iv measure.Interval) error {
	s.Intervals = append(s.Intervals, iv)
	return nil
}

// config is a run of four users that start at 1.6 a second, warm up for 5 s and run for 10 s. An order is four
// operations of 10 ms, so each user makes exactly 25 orders a second.
func config(sims ...*simulation) Config {
	plan := ds2.Plan{Config: ds2.Config{Size: datagen.S, Words: datagen.DefaultWords(), PctNewCustomers: 20, Searches: 1, SearchBatchSize: 5, LineItems: 5}}
	for _, sim := range sims {
		plan.Targets = append(plan.Targets, sim.Connect)
	}
	return Config{
		Words: plan.Workload().Words(), Operations: plan.Workload().Operations(), Counts: counts.All,
		Play:    plan.Begin(""),
		Targets: slices.Repeat([]string{"simulation/db"}, len(sims)),
		Threads: 4, Seed: 1, RampRate: 1.6, Warmup: 5 * time.Second, Run: 10 * time.Second, Drain: 30 * time.Second,
		MaxRetries: 5, MaxErrors: 3, OperationTimeout: 20 * time.Second, Interval: 50 * time.Second,
	}
}

// drive runs c in a bubble of simulated time. during, where there is one, runs beside it; its arguments stop the run
// and cut it off.
func drive(t *testing.T, c Config, during func(stop, leave func())) (got *series, totals measure.Totals, err error) {
	synctest.Test(t, func(t *testing.T) {
		got = &series{}
		d := New(c, got, slog.New(slog.NewTextHandler(io.Discard, nil)))
		ctx, leave := context.WithCancel(t.Context())
		soft, stop := context.WithCancel(t.Context())
		defer leave()
		defer stop()
		if during != nil {
			go during(stop, leave)
		}
		_, err = d.Run(ctx, soft)
		totals = d.Meter().Totals()[0]
	})
	return got, totals, err
}

func (s *series) counts() measure.Counts {
	var c measure.Counts
	for _, sample := range s.Samples {
		c.Add(sample.Counts)
	}
	return c
}

func TestPhases(t *testing.T) {
	sim := &simulation{service: 10 * time.Millisecond}
	c := config(sim)
	c.Cuts = []time.Duration{9500 * time.Millisecond, 3 * time.Second}
	got, totals, err := drive(t, c, nil)
	require.NoError(t, err)
	want := map[measure.Phase]measure.Span{
		measure.PhaseRamp:   {From: 0, To: 2 * time.Second},
		measure.PhaseWarmup: {From: 2 * time.Second, To: 7 * time.Second},
		measure.PhaseRun:    {From: 7 * time.Second, To: 17 * time.Second},
	}
	for phase, span := range want {
		assert.Equal(t, span, got.Phase(phase), "phase %s", phase)
	}
	w, err := got.Window("run", want[measure.PhaseRun])
	require.NoError(t, err)
	// Orders that end in the very moment in which the phase does may fall on either side of it.
	if n := w.Counts.Orders; n < 1000-4 || n > 1000+8 {
		t.Errorf("%d orders in the run, want 1000: four users with 25 orders a second", n)
	}
	if l := w.Latency["order"]; l.P50 < 40 || l.P50 > 40.5 || l.Count != w.Counts.Orders {
		t.Errorf("latency of the orders in the run = %+v, want 40 ms for each of %d", l, w.Counts.Orders)
	}
	if c := got.counts(); c.Orders != totals.Counts.Orders || counts.Of(c, counts.Purchases) != c.Orders || c.Orders != sim.purchases.Load() {
		t.Errorf("samples count %d orders, totals %d, the store %d purchases", c.Orders, totals.Counts.Orders, sim.purchases.Load())
	}
	var users []int
	for _, s := range got.Samples[:3] {
		users = append(users, s.Users)
	}
	assert.True(t, users[0] == 2 && users[1] == 4, "users at work after each second of the ramp: %v, want 2, 4", users)
	var ends []time.Duration
	for _, iv := range got.Intervals {
		ends = append(ends, iv.To)
	}
	for i, want := range []time.Duration{2 * time.Second, 3 * time.Second, 7 * time.Second, 9500 * time.Millisecond, 17 * time.Second} {
		require.True(t, i < len(ends) && ends[i] == want, "intervals end at %v, want %v as number %d", ends, want, i)
	}
	assert.EqualValues(t, 0, sim.open.Load(), "connections are left open")
}

// TestWarm: the run begins when it may, on a second, and at the latest when nobody wants to wait any longer.
func TestWarm(t *testing.T) {
	for why, c := range map[string]struct{ warm, most, want time.Duration }{
		"at once":           {0, time.Minute, 5 * time.Second},
		"after a while":     {8500 * time.Millisecond, time.Minute, 9 * time.Second},
		"later than it may": {time.Hour, 4 * time.Second, 11 * time.Second},
	} {
		t.Run(why, func(t *testing.T) {
			config := config(&simulation{service: 10 * time.Millisecond})
			var start time.Time
			config.Started = func(at time.Time) { start = at }
			config.Warm = func() bool { return time.Since(start) >= c.warm+2*time.Second-config.Ramp() }
			config.WarmMax = c.most
			got, _, err := drive(t, config, nil)
			require.NoError(t, err)
			warmup, run := got.Phase(measure.PhaseWarmup), got.Phase(measure.PhaseRun)
			if late := warmup.To - max(warmup.From+5*time.Second, c.want); late < 0 || late > 10*time.Millisecond || run.From != warmup.To || run.To-run.From != 10*time.Second {
				t.Errorf("warm-up %v, run %v", warmup, run)
			}
		})
	}
}

func TestThinkTime(t *testing.T) {
	c := config(&simulation{service: 10 * time.Millisecond})
	c.Think, c.Run = 360*time.Millisecond, 100*time.Second
	got, _, err := drive(t, c, nil)
	require.NoError(t, err)
	// 40 ms of work and 360 ms of thought on average: 4 users make 10 orders a second.
	if w, err := got.Window("run", got.Phase(measure.PhaseRun)); err != nil || w.OPM < 570 || w.OPM > 630 {
		t.Errorf("OPM with think time = %v, %v; want about 600", w.OPM, err)
	}
}

func TestStop(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration
		run   time.Duration
		want  error
		phase measure.Phase // the last before the drain
	}{
		{"in the ramp", time.Second + time.Millisecond, 10 * time.Second, ErrStopped, measure.PhaseRamp},
		{"in the warm-up", 3 * time.Second, 10 * time.Second, ErrStopped, measure.PhaseWarmup},
		{"in the run", 8 * time.Second, 10 * time.Second, ErrStopped, measure.PhaseRun},
		{"in a run until stopped", 8 * time.Second, 0, nil, measure.PhaseRun},
		{"in the warm-up of a run until stopped", 3 * time.Second, 0, ErrStopped, measure.PhaseWarmup},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := &simulation{service: 10 * time.Millisecond}
			config := config(sim)
			config.Run = c.run
			got, totals, err := drive(t, config, func(stop, _ func()) {
				time.Sleep(c.after)
				stop()
			})
			assert.ErrorIs(t, err, c.want, "Run")
			last := got.Samples[len(got.Samples)-1]
			if took := last.End - c.after; took < 0 || took > 50*time.Millisecond {
				t.Errorf("drained %s after the stop, want the rest of an order", took)
			}
			assert.GreaterOrEqual(t, got.Phase(c.phase).To, c.after, "phase %s ended at", c.phase)
			if totals.Counts.GivenUp != 0 || totals.Counts.Orders != sim.purchases.Load() {
				t.Errorf("given up %d, orders %d, purchases %d: orders under way are to end", totals.Counts.GivenUp,
					totals.Counts.Orders, sim.purchases.Load())
			}
		})
	}
}

func TestStopWhileConnecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		stop, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d := New(config(&simulation{connectTime: 15 * time.Second}), &series{}, slog.New(slog.DiscardHandler))
		_, err := d.Run(t.Context(), stop)
		require.ErrorIs(t, err, ErrStopped)
		require.Less(t, time.Since(begin), 2*time.Second)
	})
}

func TestSecondStopLeavesAtOnce(t *testing.T) {
	sim := &simulation{service: 10 * time.Millisecond, stall: func(op calls.Op, call int64) bool { return call > 1000 }}
	got, totals, err := drive(t, config(sim), func(stop, leave func()) {
		time.Sleep(8 * time.Second)
		stop()
		time.Sleep(2 * time.Second)
		leave()
	})
	assert.ErrorIs(t, err, ErrStopped, "Run")
	assert.LessOrEqual(t, got.Samples[len(got.Samples)-1].End, 10100*time.Millisecond, "left at")
	assert.EqualValues(t, 4, totals.Counts.GivenUp, "orders given up")
}

func TestDrainIsBounded(t *testing.T) {
	c := config(&simulation{service: 10 * time.Millisecond, stall: func(op calls.Op, call int64) bool { return call > 5000 }})
	c.Drain = 3 * time.Second
	c.OperationTimeout = time.Minute
	got, totals, err := drive(t, c, nil)
	require.NoError(t, err, "Run")
	if last := got.Samples[len(got.Samples)-1].End; last < 20*time.Second || last > 20100*time.Millisecond {
		t.Errorf("left at %s, want at the end of the drain, 20 s", last)
	}
	assert.EqualValues(t, 4, totals.Counts.GivenUp, "orders given up")
}

func TestRetries(t *testing.T) {
	for _, class := range []store.Class{store.Deadlock, store.Serialization, store.Timeout, store.Resource, store.Connection} {
		t.Run(string(class), func(t *testing.T) {
			var failed bool
			sim := &simulation{service: 10 * time.Millisecond, fail: func(op calls.Op, call int64) error {
				if op == calls.OpPurchase && call > 500 && !failed {
					failed = true
					return &store.Error{Op: "purchase", Class: class, Err: errors.New("simulated")}
				}
				return nil
			}}
			c := config(sim)
			c.Threads = 1
			_, totals, err := drive(t, c, nil)
			require.NoError(t, err)
			f := measure.Failure{Operation: "purchase", Class: string(class)}
			one := map[measure.Failure]int64{f: 1}
			if !maps.Equal(totals.Errors, one) || !maps.Equal(totals.Retries, one) || totals.Counts.GivenUp != 0 {
				t.Errorf("errors %v, retries %v, given up %d; want one error, retried", totals.Errors, totals.Retries, totals.Counts.GivenUp)
			}
			wantReconnects := int64(0)
			if class == store.Connection {
				wantReconnects = 1
			}
			assert.Equal(t, wantReconnects, totals.Counts.Reconnects, "reconnects")
			if totals.Counts.Orders != counts.Of(totals.Counts, counts.Purchases) || totals.Counts.Orders != sim.purchases.Load() {
				t.Errorf("%d orders, %d purchases, store made %d", totals.Counts.Orders, counts.Of(totals.Counts, counts.Purchases), sim.purchases.Load())
			}
		})
	}
}

func TestRestartOfTheServer(t *testing.T) {
	var down atomic.Bool
	sim := &simulation{service: 10 * time.Millisecond, fail: func(op calls.Op, _ int64) error {
		if down.Load() {
			return &store.Error{Op: "simulated", Class: store.Connection, Err: errors.New("server is down")}
		}
		return nil
	}}
	c := config(sim)
	c.MaxRetries = 20
	_, totals, err := drive(t, c, func(func(), func()) {
		time.Sleep(9 * time.Second)
		down.Store(true)
		time.Sleep(2 * time.Second)
		down.Store(false)
	})
	require.NoError(t, err, "Run")
	if totals.Counts.Reconnects != 4 || totals.Counts.GivenUp != 0 {
		t.Errorf("%d reconnects, %d orders given up; want one reconnect a user and no order lost", totals.Counts.Reconnects, totals.Counts.GivenUp)
	}
}

func TestStalledOperation(t *testing.T) {
	sim := &simulation{service: 10 * time.Millisecond, stall: func(op calls.Op, call int64) bool { return call == 500 }}
	c := config(sim)
	c.OperationTimeout = 3 * time.Second
	_, totals, err := drive(t, c, nil)
	require.NoError(t, err)
	if totals.Counts.Reconnects != 1 || totals.Counts.Retries != 1 || totals.Counts.GivenUp != 0 {
		t.Errorf("counts %+v, want one reconnect and one retry", totals.Counts)
	}
}

func TestPurchaseInDoubtIsNotTriedAgain(t *testing.T) {
	var lost, made atomic.Int64
	sim := &simulation{service: 10 * time.Millisecond}
	sim.fail = func(op calls.Op, call int64) error {
		if op == calls.OpPurchase && call%50 == 0 {
			lost.Add(1)
			return &store.Error{Op: "purchase", Class: store.Connection, InDoubt: true, Err: errors.New("simulated")}
		}
		if op == calls.OpPurchase {
			made.Add(1)
		}
		return nil
	}
	_, totals, err := drive(t, config(sim), nil)
	require.NoError(t, err, "Run")
	c := totals.Counts
	if n := lost.Load(); n < 10 || counts.Of(c, counts.InDoubtPurchases) != n || counts.Of(c, counts.Purchases) != made.Load() || c.GivenUp != n || c.Retries != 0 || c.Reconnects < n-4 {
		t.Errorf("counts %+v; want %d in doubt, %d purchases, no retry", c, n, made.Load())
	}
	assert.NotEqualValues(t, 0, counts.Of(c, counts.InDoubtTotalCents), "the total of the purchases in doubt is 0")
}

func TestNewCustomerInDoubtTakesAnotherName(t *testing.T) {
	var lost string
	names := 0
	sim := &simulation{service: 10 * time.Millisecond}
	sim.newCustomer = func(name string) (int64, error) {
		names++
		switch {
		case names == 10:
			lost = name
			return 0, &store.Error{Op: "new customer", Class: store.Connection, InDoubt: true, Err: errors.New("simulated")}
		case name == lost:
			t.Errorf("name %s, which is in doubt, was tried again", name)
		}
		return 1, nil
	}
	c := config(sim)
	c.Threads = 1
	_, totals, err := drive(t, c, nil)
	require.NoError(t, err)
	if counts.Of(totals.Counts, counts.InDoubtCustomers) != 1 || counts.Of(totals.Counts, counts.NewCustomers) != int64(names-1) {
		t.Errorf("counts %+v, want one customer in doubt of %d", totals.Counts, names)
	}
}

func TestTakenNames(t *testing.T) {
	tries := 0
	sim := &simulation{service: 10 * time.Millisecond}
	sim.newCustomer = func(string) (int64, error) {
		tries++
		return int64(tries % 2), nil // every second name is taken
	}
	c := config(sim)
	c.Threads = 1
	_, totals, err := drive(t, c, nil)
	require.NoError(t, err)
	if n := totals.Counts; counts.Of(n, counts.NewCustomers)+counts.Of(n, counts.NamesTaken) != int64(tries) || counts.Of(n, counts.NamesTaken) == 0 || n.GivenUp != 0 {
		t.Errorf("counts %+v of %d tries", n, tries)
	}
}

func TestWhatEndsARun(t *testing.T) {
	fail := func(class store.Class) func(calls.Op, int64) error {
		return func(op calls.Op, call int64) error {
			if op == calls.OpPrices {
				return &store.Error{Op: "read prices", Class: class, Err: errors.New("simulated")}
			}
			return nil
		}
	}
	for _, c := range []struct {
		name     string
		sim      *simulation
		want     string
		min, max int64 // orders given up
	}{
		{"a missing procedure", &simulation{fail: fail(store.Config)}, "read prices: simulated", 1, 4},
		{"a bug, each order again", &simulation{fail: fail(store.Bug)}, "max_errors is 3", 4, 8},
		{"a deadlock that never ends", &simulation{fail: fail(store.Deadlock)}, "give up after 5 retries: read prices: simulated", 4, 8},
		{"data of another size", &simulation{noCustomers: true}, "knows no customer", 4, 8},
		{"no connection", &simulation{connectErr: &store.Error{Op: "connect", Class: store.Resource, Err: errors.New("too many clients")}},
			"connect user 1 of 1: give up after 5 retries: connect: too many clients", 0, 0},
		{"a wrong password", &simulation{connectErr: &store.Error{Op: "connect", Class: store.Config, Err: errors.New("no")}},
			"connect user 1 of 1: connect: no", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.sim.service = 10 * time.Millisecond
			config := config(c.sim)
			config.Threads = 1
			config.Run = 0
			_, totals, err := drive(t, config, nil)
			assert.ErrorContains(t, err, c.want, "Run")
			if n := totals.Counts.GivenUp; n < c.min || n > c.max {
				t.Errorf("%d orders given up, want %d to %d", n, c.min, c.max)
			}
		})
	}
}

func TestRecordThatCannotBeWrittenEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		sink := &series{err: full}
		d := New(config(&simulation{service: 10 * time.Millisecond}), sink, slog.New(slog.DiscardHandler))
		if _, err := d.Run(t.Context(), t.Context()); !errors.Is(err, full) {
			t.Errorf("Run = %v, want the sink's error", err)
		}
		assert.Len(t, sink.Samples, 1, "samples were offered to a sink that failed on the first")
	})
}

func TestStartAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(&simulation{service: 10 * time.Millisecond})
		c.StartAt = time.Now().Add(time.Hour)
		start, err := New(c, &series{}, slog.New(slog.DiscardHandler)).Run(t.Context(), t.Context())
		assert.True(t, err == nil && start.Equal(c.StartAt), "Run began at %s, %v; want %s", start, err, c.StartAt)
	})
}

func TestSeveralTargets(t *testing.T) {
	a, b := &simulation{service: 10 * time.Millisecond}, &simulation{service: 20 * time.Millisecond}
	c := config(a, b)
	c.Threads = 2
	synctest.Test(t, func(t *testing.T) {
		d := New(c, &series{}, slog.New(slog.DiscardHandler))
		_, err := d.Run(t.Context(), t.Context())
		require.NoError(t, err)
		totals := d.Meter().Totals()
		if x, y := totals[0].Counts.Orders, totals[1].Counts.Orders; x != a.purchases.Load() || y != b.purchases.Load() || x < 2*y-8 || x > 2*y+100 {
			t.Errorf("orders by target %d and %d, purchases %d and %d; want two users on each, the first twice as fast", x, y,
				a.purchases.Load(), b.purchases.Load())
		}
	})
}
