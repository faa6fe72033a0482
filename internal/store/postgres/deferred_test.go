package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

const churn = `
	CREATE TABLE changed AS SELECT n, repeat('x', 100) AS text FROM generate_series(1, 50000) n;
	CREATE INDEX ON changed (n); ALTER TABLE changed SET (autovacuum_enabled = off);
	DELETE FROM changed WHERE n % 4 = 0; UPDATE changed SET n = -n WHERE n % 4 = 1`

func TestSettle(t *testing.T) {
	s := open(t, pgtest.Database(t))
	require.NoError(t, s.Can().Deferred.CheckDeferred(t.Context()))
	s.DB().SetMaxIdleConns(0) // a session counts its changes for others when it ends, at the latest
	pgtest.Exec(t, s.DB(), churn)
	start := time.Now().Truncate(time.Second)
	var steps []string
	settled, err := s.Can().Deferred.DoDeferred(t.Context(), func(name string) { steps = append(steps, name) })
	require.NoError(t, err)
	assert.Equal(t, []string{"checkpoint", "vacuum", "checkpoint after the vacuum"}, steps)
	assert.Equal(t, store.Deferred{Before: 25000}, settled, "12,500 removed and 12,500 replaced rows")
	assert.False(t, lastCheckpoint(t, s).Before(start))
	const dead = "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'changed'"
	assert.Zero(t, pgtest.Value[int](t, s.DB(), dead))

	_, err = s.Can().Deferred.DoDeferred(t.Context(), func(string) { pgtest.Exec(t, s.DB(), killOthers) })
	assert.Equal(t, store.Connection, store.Classify(err), "a session that the server ended: %v", err)
}

// TestSettleWhatIsSeen has a session that may still see the rows: they cannot be cleaned, and the result says so.
func TestSettleWhatIsSeen(t *testing.T) {
	s := open(t, pgtest.Database(t))
	before, first, _ := strings.Cut(churn, "DELETE")
	pgtest.Exec(t, s.DB(), before)
	tx, err := s.DB().Begin()
	require.NoError(t, err)
	defer tx.Rollback()
	// A cursor keeps its snapshot.
	pgtest.Exec(t, tx, "SELECT count(*) FROM changed", "DECLARE all_rows CURSOR FOR SELECT * FROM changed")
	pgtest.Exec(t, s.DB(), "DELETE"+first)
	s.DB().SetMaxIdleConns(0)
	settled, err := s.Can().Deferred.DoDeferred(t.Context(), func(string) {})
	assert.True(t, err == nil && settled.After == 25000, "%+v, %v", settled, err)
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
