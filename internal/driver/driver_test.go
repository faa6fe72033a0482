package driver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
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
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
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

var quiet = slog.New(slog.DiscardHandler)

// config is a run of four users that start at 1.6 a second, warm up for 5 s and run for 10 s. An
// order is four operations of 10 ms, so each user makes exactly 25 orders a second.
func config(sims ...*simulation) Config {
	plan := ds2.Plan{Config: ds2.Config{
		Size:            datagen.S,
		Words:           datagen.DefaultWords(),
		PctNewCustomers: 20,
		Searches:        1,
		SearchBatchSize: 5,
		LineItems:       5,
	}}
	for _, sim := range sims {
		sim.service = cmp.Or(sim.service, 10*time.Millisecond)
		plan.Targets = append(plan.Targets, sim.Connect)
	}
	c := Config{
		Spec: result.Spec{
			Words: plan.Workload().
				Words(),
			Targets:    slices.Repeat([]string{"simulation/db"}, len(sims)),
			Threads:    4,
			Seed:       1,
			RampRate:   1.6,
			MaxRetries: 5,
			MaxErrors:  3,
		},
		Operations: plan.Workload().Operations(), Counts: calls.Counts, Play: plan.Begin(""),
		Interval: 50 * time.Second,
		Started:  func(time.Time) {}, Began: func(time.Time) {},
		Lost: func(error) {}, Delayed: func(error) {},
	}
	c.WarmupTime.Duration = 5 * time.Second
	c.RunTime.Duration = 10 * time.Second
	c.DrainTime.Duration = 30 * time.Second
	c.OperationTimeout.Duration = 20 * time.Second
	return c
}

// drive runs c in a bubble of simulated time. during, where there is one, runs beside it; its
// arguments stop the run and cut it off.
func drive(
	t *testing.T,
	c Config,
	during func(stop, leave func()),
) (got *series, totals measure.Totals, err error) {
	synctest.Test(t, func(t *testing.T) {
		got = &series{}
		d := New(c, got, quiet)
		ctx, leave := context.WithCancel(t.Context())
		soft, stop := context.WithCancel(t.Context())
		defer leave()
		defer stop()
		if during != nil {
			go during(stop, leave)
		}
		err = d.Run(ctx, soft)
		totals = d.Meter().Totals()[0]
	})
	return got, totals, err
}

// driven is drive for a run that comes to its good end.
func driven(t *testing.T, c Config) (*series, measure.Totals) {
	t.Helper()
	got, totals, err := drive(t, c, nil)
	require.NoError(t, err)
	return got, totals
}

// run is the window of the run phase.
func (s *series) run(t *testing.T) measure.Window {
	t.Helper()
	w, err := s.Window("run", s.Phase(measure.PhaseRun))
	require.NoError(t, err)
	return w
}

// simulated is the error of an operation.
func simulated(op string, class store.Class) *store.Error {
	return &store.Error{Op: op, Class: class, Err: errors.New("simulated")}
}

func TestPhases(t *testing.T) {
	sim := &simulation{}
	c := config(sim)
	c.Cuts = []time.Duration{9500 * time.Millisecond, 3 * time.Second}
	got, totals := driven(t, c)
	want := map[measure.Phase]measure.Span{
		measure.PhaseRamp:   {From: 0, To: 2 * time.Second},
		measure.PhaseWarmup: {From: 2 * time.Second, To: 7 * time.Second},
		measure.PhaseRun:    {From: 7 * time.Second, To: 17 * time.Second},
	}
	for phase, span := range want {
		assert.Equal(t, span, got.Phase(phase), "phase %s", phase)
	}
	w := got.run(t)
	// Orders that end in the very moment in which the phase does may fall on either side of it.
	assert.InDelta(t, 1002, w.Counts.Orders, 6, "four users with 25 orders a second make 1000")
	assert.InDelta(t, 40.25, w.Latency["order"].P50, .25)
	assert.Equal(t, w.Counts.Orders, w.Latency["order"].Count)
	var sampled measure.Counts
	for _, sample := range got.Samples {
		sampled.Add(sample.Counts)
	}
	for what, orders := range map[string]int64{
		"totals": totals.Counts.Orders, "purchases": calls.Count(sampled, calls.Purchases),
		"store": sim.purchases.Load(),
	} {
		assert.Equal(t, sampled.Orders, orders, what)
	}
	assert.Equal(
		t,
		[]int{2, 4},
		[]int{got.Samples[0].Users, got.Samples[1].Users},
		"users at work in the ramp",
	)
	var ends []float64
	for _, iv := range got.Intervals {
		ends = append(ends, iv.To.Seconds())
	}
	require.GreaterOrEqual(t, len(ends), 5)
	require.Equal(t, []float64{2, 3, 7, 9.5, 17}, ends[:5], "intervals end at")
	assert.EqualValues(t, 0, sim.open.Load(), "connections are left open")
}

// TestWarm: the run begins when it may, on a second, and at the latest when its deadline passes.
func TestWarm(t *testing.T) {
	for why, c := range map[string]struct{ warm, most, want time.Duration }{
		"at once":           {0, time.Minute, 5 * time.Second},
		"after a while":     {8500 * time.Millisecond, time.Minute, 9 * time.Second},
		"later than it may": {time.Hour, 4 * time.Second, 11 * time.Second},
	} {
		t.Run(why, func(t *testing.T) {
			config := config(&simulation{})
			var start time.Time
			config.Started = func(at time.Time) { start = at }
			config.Warm = func() bool {
				return time.Since(start) >= c.warm+2*time.Second-config.Ramp()
			}
			config.WarmWithin.Duration = c.most
			got, _ := driven(t, config)
			warmup := got.Phase(measure.PhaseWarmup)
			run := got.Phase(measure.PhaseRun)
			late := warmup.To - max(warmup.From+5*time.Second, c.want)
			assert.True(t, late >= 0 && late <= 10*time.Millisecond, "warm-up %v", warmup)
			assert.Equal(t, measure.Span{From: warmup.To, To: warmup.To + 10*time.Second}, run)
		})
	}
}

func TestThinkTime(t *testing.T) {
	c := config(&simulation{})
	c.ThinkTime.Duration = 360 * time.Millisecond
	c.RunTime.Duration = 100 * time.Second
	got, _ := driven(t, c)
	// 40 ms of work and 360 ms of thought on average: 4 users make 10 orders a second.
	assert.InDelta(t, 600, got.run(t).OPM, 30, "OPM with think time")
}

func TestStop(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration
		run   time.Duration
		want  error
		phase measure.Phase // the last before the drain
	}{
		{
			"in the ramp", time.Second + time.Millisecond, 10 * time.Second, ErrStopped,
			measure.PhaseRamp,
		},
		{"in the warm-up", 3 * time.Second, 10 * time.Second, ErrStopped, measure.PhaseWarmup},
		{"in the run", 8 * time.Second, 10 * time.Second, ErrStopped, measure.PhaseRun},
		{"in a run until stopped", 8 * time.Second, 0, nil, measure.PhaseRun},
		{
			"in the warm-up of a run until stopped", 3 * time.Second, 0, ErrStopped,
			measure.PhaseWarmup,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := &simulation{}
			config := config(sim)
			config.RunTime.Duration = c.run
			got, totals, err := drive(t, config, func(stop, _ func()) {
				time.Sleep(c.after)
				stop()
			})
			assert.ErrorIs(t, err, c.want, "Run")
			last := got.Samples[len(got.Samples)-1]
			took := last.End - c.after
			assert.True(
				t,
				took >= 0 && took <= 50*time.Millisecond,
				"drained %s after the stop",
				took,
			)
			assert.GreaterOrEqual(t, got.Phase(c.phase).To, c.after, "phase %s ended at", c.phase)
			assert.Zero(t, totals.Counts.GivenUp, "orders under way are to end")
			assert.Equal(t, sim.purchases.Load(), totals.Counts.Orders)
		})
	}
}

func TestStopWhileConnecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		stop, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d := New(config(&simulation{connectTime: 15 * time.Second}), &series{}, quiet)
		err := d.Run(t.Context(), stop)
		require.ErrorIs(t, err, ErrStopped)
		require.Less(t, time.Since(begin), 2*time.Second)
	})
}

// TestConnectingEnds has a server that takes the first users alone, as a pooler does: a run is not
// begun, and says how many there are.
func TestConnectingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c := config(&simulation{most: 2})
		c.Threads = 3
		err := New(c, &series{}, quiet).Run(t.Context(), t.Context())
		require.ErrorContains(t, err, "2 of 3 users connected, and no other within 1m0s")
		require.LessOrEqual(t, time.Since(begin), 2*connectTime)
	})
}

// TestOperationsThatDoNotEnd are given up where the run is stopped a second time, or its drain is
// over.
func TestOperationsThatDoNotEnd(t *testing.T) {
	twice := func(stop, leave func()) {
		time.Sleep(8 * time.Second)
		stop()
		time.Sleep(2 * time.Second)
		leave()
	}
	for _, c := range []struct {
		calls  int64 // that end
		drain  time.Duration
		during func(stop, leave func())
		err    error
		left   float64 // seconds
	}{
		{1000, 30 * time.Second, twice, ErrStopped, 10.05},
		{5000, 3 * time.Second, nil, nil, 20.05},
	} {
		config := config(&simulation{stall: func(_ calls.Op, call int64) bool {
			return call > c.calls
		}})
		config.DrainTime.Duration = c.drain
		config.OperationTimeout.Duration = time.Minute
		got, totals, err := drive(t, config, c.during)
		assert.ErrorIs(t, err, c.err)
		assert.InDelta(t, c.left, got.Samples[len(got.Samples)-1].End.Seconds(), .05, "left at")
		assert.EqualValues(t, 4, totals.Counts.GivenUp, "orders given up")
	}
}

func TestRetries(t *testing.T) {
	for _, class := range []store.Class{
		store.Deadlock, store.Serialization, store.Timeout, store.Resource, store.Connection,
	} {
		t.Run(string(class), func(t *testing.T) {
			var failed bool
			sim := &simulation{fail: func(op calls.Op, call int64) error {
				if op == calls.OpPurchase && call > 500 && !failed {
					failed = true
					return simulated("purchase", class)
				}
				return nil
			}}
			c := config(sim)
			c.Threads = 1
			_, totals := driven(t, c)
			f := measure.Failure{Operation: "purchase", Class: string(class)}
			one := map[measure.Failure]int64{f: 1}
			assert.Equal(t, one, totals.Errors)
			assert.Equal(t, one, totals.Retries)
			n := totals.Counts
			assert.Zero(t, n.GivenUp)
			assert.EqualValues(
				t,
				map[bool]int{true: 1}[class == store.Connection],
				n.Reconnects,
				"reconnects",
			)
			assert.Equal(t, n.Orders, calls.Count(n, calls.Purchases))
			assert.Equal(t, n.Orders, sim.purchases.Load())
		})
	}
}

func TestRestartOfTheServer(t *testing.T) {
	var down atomic.Bool
	sim := &simulation{fail: func(op calls.Op, _ int64) error {
		if down.Load() {
			return simulated("purchase", store.Connection)
		}
		return nil
	}}
	c := config(sim)
	c.MaxRetries = 20
	got, totals, err := drive(t, c, func(func(), func()) {
		time.Sleep(9 * time.Second)
		down.Store(true)
		time.Sleep(3 * time.Second)
		down.Store(false)
	})
	require.NoError(t, err, "Run")
	amid := got.Samples[10] // while the orders under way go on
	assert.Zero(t, amid.Counts.Orders)
	assert.NotZero(t, amid.Errors, "failures at %s", amid.End)
	assert.Equal(t, 4, amid.HeldUp, "users who wait to try again")
	w := got.run(t)
	assert.Greater(t, w.Stalled, .1)
	assert.Greater(t, w.HeldUp, .1)
	assert.NotEmpty(t, w.Failed())
	assert.EqualValues(t, 4, totals.Counts.Reconnects, "one of each user")
	assert.Zero(t, totals.Counts.GivenUp)
}

func TestStalledOperation(t *testing.T) {
	sim := &simulation{stall: func(op calls.Op, call int64) bool { return call == 500 }}
	c := config(sim)
	c.OperationTimeout.Duration = 3 * time.Second
	_, totals := driven(t, c)
	n := totals.Counts
	assert.Equal(
		t,
		[]int64{1, 1, 0},
		[]int64{n.Reconnects, n.Retries, n.GivenUp},
		"reconnects, retries, given up",
	)
}

func TestPurchaseInDoubtIsNotTriedAgain(t *testing.T) {
	var lost, made atomic.Int64
	sim := &simulation{}
	sim.fail = func(op calls.Op, call int64) error {
		if op == calls.OpPurchase && call%50 == 0 {
			lost.Add(1)
			err := simulated("purchase", store.Connection)
			err.InDoubt = true
			return err
		}
		if op == calls.OpPurchase {
			made.Add(1)
		}
		return nil
	}
	_, totals := driven(t, config(sim))
	c := totals.Counts
	n := lost.Load()
	assert.GreaterOrEqual(t, n, int64(10))
	assert.Equal(t, n, calls.Count(c, calls.InDoubtPurchases))
	assert.Equal(t, made.Load(), calls.Count(c, calls.Purchases))
	assert.Equal(t, n, c.GivenUp)
	assert.Zero(t, c.Retries)
	assert.GreaterOrEqual(t, c.Reconnects, n-4)
	assert.NotEqualValues(
		t,
		0,
		calls.Count(c, calls.InDoubtTotalCents),
		"the total of the purchases in doubt is 0",
	)
}

// TestNames: a name that is taken, or whose customer is in doubt, is not tried again.
func TestNames(t *testing.T) {
	var lost string
	tries := 0
	sim := &simulation{}
	sim.newCustomer = func(name string) (int64, error) {
		tries++
		if tries == 10 {
			lost = name
			err := simulated("new customer", store.Connection)
			err.InDoubt = true
			return 0, err
		}
		assert.NotEqual(t, lost, name, "it is in doubt")
		return int64(tries % 2), nil // every second name is taken
	}
	c := config(sim)
	c.Threads = 1
	_, totals := driven(t, c)
	of := func(count int) int64 { return calls.Count(totals.Counts, count) }
	assert.NotZero(t, of(calls.NamesTaken))
	assert.EqualValues(t, 1, of(calls.InDoubtCustomers))
	assert.EqualValues(t, tries-1, of(calls.NewCustomers)+of(calls.NamesTaken))
	assert.Zero(t, totals.Counts.GivenUp)
}

func TestWhatEndsARun(t *testing.T) {
	fail := func(class store.Class) func(calls.Op, int64) error {
		return func(op calls.Op, call int64) error {
			if op == calls.OpPrices {
				return simulated("read prices", class)
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
		{
			"a missing procedure", &simulation{fail: fail(store.Config)}, "read prices: simulated",
			1, 4,
		},
		{"a bug, each order again", &simulation{fail: fail(store.Bug)}, "max_errors is 3", 4, 8},
		{
			"a deadlock that never ends", &simulation{fail: fail(store.Deadlock)},
			"give up after 5 retries: read prices: simulated", 4, 8,
		},
		{"data of another size", &simulation{noCustomers: true}, "knows no customer", 4, 8},
		{
			"no connection", &simulation{connectErr: simulated("connect", store.Resource)},
			"connect user 1 of 1: give up after 5 retries: connect: simulated", 0, 0,
		},
		{
			"a wrong password", &simulation{connectErr: simulated("connect", store.Config)},
			"connect user 1 of 1: connect: simulated", 0, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := config(c.sim)
			config.Threads = 1
			config.RunTime.Duration = 0
			_, totals, err := drive(t, config, nil)
			assert.ErrorContains(t, err, c.want, "Run")
			n := totals.Counts.GivenUp
			assert.True(
				t,
				n >= c.min && n <= c.max,
				"%d orders given up, want %d to %d",
				n,
				c.min,
				c.max,
			)
		})
	}
}

func TestRecordThatCannotBeWrittenEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		sink := &series{err: full}
		d := New(config(&simulation{}), sink, quiet)
		err := d.Run(t.Context(), t.Context())
		assert.ErrorIs(t, err, full)
		assert.Len(t, sink.Samples, 1, "samples were offered to a sink that failed on the first")
	})
}

func TestStartAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(&simulation{})
		c.StartAt = time.Now().Add(time.Hour)
		c.Started = func(start time.Time) { assert.Equal(t, c.StartAt, start) }
		require.NoError(t, New(c, &series{}, quiet).Run(t.Context(), t.Context()))
	})
}

func TestSeveralTargets(t *testing.T) {
	// the first is twice as fast
	a := &simulation{}
	b := &simulation{service: 20 * time.Millisecond}
	c := config(a, b)
	c.Threads = 2
	synctest.Test(t, func(t *testing.T) {
		d := New(c, &series{}, quiet)
		err := d.Run(t.Context(), t.Context())
		require.NoError(t, err)
		totals := d.Meter().Totals()
		x := totals[0].Counts.Orders
		y := totals[1].Counts.Orders
		assert.Equal(t, a.purchases.Load(), x)
		assert.Equal(t, b.purchases.Load(), y)
		assert.True(t, x >= 2*y-8 && x <= 2*y+100, "%d and %d orders; want two users on each", x, y)
	})
}
