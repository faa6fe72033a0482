package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

func TestCheckpoint(t *testing.T) {
	target := pgtest.Database(t)
	s := open(t, target)
	// The time of the last checkpoint stands in the cluster's control file, to the second.
	last := func() (at time.Time) {
		t.Helper()
		require.NoError(t, s.DB().QueryRow("SELECT checkpoint_time FROM pg_control_checkpoint()").Scan(&at))
		return at
	}
	start := time.Now().Truncate(time.Second)
	require.NoError(t, s.Checkpoint(t.Context()))
	if at := last(); at.Before(start) {
		t.Errorf("the last checkpoint was at %v, before %v", at, start)
	}

	pgtest.Exec(t, s.DB(),
		"DROP ROLE IF EXISTS ds2_plain",
		"CREATE ROLE ds2_plain LOGIN PASSWORD 'plain'",
	)
	t.Cleanup(func() { open(t, pgtest.Server(t).URL("postgres")).DB().Exec("DROP ROLE ds2_plain") })
	plain := open(t, pgtest.As(t, target, "ds2_plain", "plain"))
	refused(t, plain.Can().MayCheckpoint(t.Context()), store.Config, "pg_checkpoint")
	refused(t, plain.Checkpoint(t.Context()), store.Config, "pg_checkpoint")
}
