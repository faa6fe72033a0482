package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
	ds2postgres "ds2/internal/workload/ds2/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// killOthers ends all connections to the database but the one it runs on.
const killOthers = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
	WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`

func open(t testing.TB, target string) *postgres.Store {
	t.Helper()
	return pgtest.Open(t, postgres.Open, target).(*postgres.Store)
}

// connect opens a session of DVD Store 2 on a store.
func connect(t *testing.T, s *postgres.Store) calls.Session {
	t.Helper()
	session, err := ds2postgres.Connect(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close(context.Background()) })
	return session
}

// reset takes DVD Store 2's database back to the state after its load.
func reset(t *testing.T, s *postgres.Store, tell progress.Tell) {
	t.Helper()
	require.NoError(
		t,
		load.Reset(t.Context(), s, workload.Workloads{ds2.Name: ds2.Workload{}}, tell),
	)
}

// refused is an error of a class that says a text.
func refused(t *testing.T, err error, class store.Class, says string) {
	t.Helper()
	assert.Equal(t, class, store.Classify(err), "%v", err)
	assert.ErrorContains(t, err, says)
}

// loaded is a store whose database is fresh and holds a dataset of the size.
func loaded(t testing.TB, size datagen.Size) *postgres.Store {
	t.Helper()
	return storetest.Loaded(t, postgres.Open, size).(*postgres.Store)
}

// lastCheckpoint is when it was, as the cluster's control file has it, to the second.
func lastCheckpoint(t *testing.T, s *postgres.Store) time.Time {
	t.Helper()
	return pgtest.Value[time.Time](t, s.DB(), "SELECT checkpoint_time FROM pg_control_checkpoint()")
}

func TestCheckpoint(t *testing.T) {
	s := open(t, pgtest.Database(t))
	start := time.Now().Truncate(time.Second)
	require.NoError(t, s.Checkpoint(t.Context()))
	assert.False(t, lastCheckpoint(t, s).Before(start))
}
