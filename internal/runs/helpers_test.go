package runs

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/progress"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/audit"
	"ds2/internal/workload/ds2/calls"
	ds2postgres "ds2/internal/workload/ds2/postgres"
)

// ready gives the options of a run on a separate server, with settings, and a small dataset, whose
// stock has more pages than a moment writes.
func ready(t *testing.T, o localpg.Options) (*localpg.Server, Options) {
	t.Helper()
	server := pgtest.Start(t, o)
	s := pgtest.Open(t, postgres.Open, server.URL("ds2"))
	storetest.Load(t, s, storetest.Size)
	return server, options(t, s)
}

// options are a run of four users for six seconds, who think, and so leave the CPUs to the tests
// beside it.
func options(t *testing.T, s store.Database) Options {
	t.Helper()
	info, err := store.ReadInfo(t.Context(), s.DB())
	require.NoError(t, err)
	size, _, err := audit.Loaded(info)
	require.NoError(t, err)
	connect := func(ctx context.Context) (calls.Session, error) {
		return ds2postgres.Connect(ctx, s)
	}
	o := Options{
		Dir: filepath.Join(t.TempDir(), "record"), Databases: []store.Database{s}, Tell: t.Logf,
		Observer: &monitor.Observer{},
		Spec: result.Spec{
			RunID:      "test",
			KitVersion: "test",
			Threads:    4,
			Seed:       1,
			RampRate:   100,
			MaxRetries: 20,
			MaxErrors:  100,
		},
		Plan: &ds2.Plan{
			Config: ds2.Config{
				Size:            size,
				Words:           datagen.DefaultWords(),
				PctNewCustomers: 20,
				Searches:        3,
				SearchBatchSize: 5,
				LineItems:       5,
			},
			Targets: []ds2.Target{connect},
			Engines: calls.Engines{postgres.Engine: ds2postgres.Connect},
		},
	}
	o.ThinkTime.Duration = 40 * time.Millisecond
	o.RunTime.Duration = 6 * time.Second
	o.DrainTime.Duration = 10 * time.Second
	o.OperationTimeout.Duration = 10 * time.Second
	return o
}

// observe has what can be observed of a run sampled beside it.
func observe(t *testing.T, o *Options, how monitor.Options) {
	t.Helper()
	var err error
	o.Observer, err = monitor.Observe(t.Context(), o.Databases, o.RunTime.Duration, how)
	require.NoError(t, err)
	t.Cleanup(o.Observer.Close)
}

func begin(t *testing.T, o Options) *Run {
	t.Helper()
	run, err := Begin(o)
	require.NoError(t, err)
	return run
}

// drive drives a run, to its end or until something is done; the error is why it is not done.
func drive(t *testing.T, run *Run, until func()) (result.Summary, error) {
	t.Helper()
	stop, end := context.WithCancel(t.Context())
	defer end()
	if until != nil {
		go func() {
			defer end()
			until()
		}()
	}
	s, outcome := run.Execute(t.Context(), stop)
	return s, outcome.Err
}

// recorded drives a run to its good end, or until something is done, and reads its record.
func recorded(t *testing.T, run *Run, until func()) *result.Record {
	t.Helper()
	_, err := drive(t, run, until)
	require.NoError(t, err)
	r, err := result.Read(run.options.Dir)
	require.NoError(t, err)
	return r
}

// audited are the checks of a run by name.
func audited(t *testing.T, run *Run) (audit result.Audit, checks map[string]result.Check) {
	t.Helper()
	audit, err := run.Audit(t.Context(), progress.Ignore)
	require.NoError(t, err)
	checks = map[string]result.Check{}
	for _, check := range audit.Checks {
		checks[check.Name] = check
	}
	return audit, checks
}

// await waits until something holds, or the test is over.
func await(t *testing.T, holds func() bool) {
	for !holds() && t.Context().Err() == nil {
		time.Sleep(50 * time.Millisecond)
	}
}

// moreOrders waits until n more orders of a run are acknowledged, as far as its samples tell.
func moreOrders(t *testing.T, run *Run, n int64) {
	acknowledged := func() int64 { return run.Meter().Totals()[0].Counts.Orders }
	before := acknowledged()
	await(t, func() bool { return acknowledged() >= before+n })
}

// later waits until a run is longer by d, as far as its samples tell.
func later(t *testing.T, run *Run, d time.Duration) {
	now := func() time.Duration { return run.Meter().Progress().Last.End }
	end := now() + d
	await(t, func() bool { return now() >= end })
}

// conduct shows nothing and audits.
func conduct(t *testing.T) Conduct {
	return Conduct{
		Locked: t.Context(), Tell: t.Logf, Judged: func(*Run) {},
		Show: func(*Run) func(result.Summary) { return func(result.Summary) {} },
		Progress: func(string, progress.Unit) (progress.Tell, func()) {
			return progress.Ignore, func() {}
		},
	}
}
