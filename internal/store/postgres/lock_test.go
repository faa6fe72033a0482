package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// TestLockIsTakenAgain ends the connection that holds a lock: it is taken again, or, where another
// was quicker, that is said.
func TestLockIsTakenAgain(t *testing.T) {
	s := open(t, pgtest.Database(t))
	told := make(chan error, 10)
	lock := func(pid int) store.Lock {
		holder := store.Holder{Command: "drive", PID: pid, Host: "here", Since: time.Unix(1e9, 0)}
		return store.Lock{Holder: holder, Lost: func(err error) { told <- err }}
	}
	unlock, err := s.Lock(t.Context(), lock(1))
	require.NoError(t, err)
	defer unlock()
	end := func() { // waits for the session that holds the lock, and ends it
		t.Helper()
		pgtest.Await(t, s.DB(), `SELECT count(pg_terminate_backend(pid)) > 0
			FROM pg_stat_activity WHERE application_name LIKE 'ds2 drive 1 %'`)
	}
	end()
	end()
	for {
		end()
		other, err := s.Lock(t.Context(), lock(2))
		if err != nil { // it was taken again before another could
			continue
		}
		defer other()
		break
	}
	assert.EqualError(t, <-told, s.Label()+" is in use by ds2 drive, process 2 on here, "+
		"since 2001-09-09 01:46:40 UTC: wait until it ends, or stop it")
}

// locked is a lock that is not to be lost.
func locked(t *testing.T, command string) store.Lock {
	holder := store.Holder{Command: command, PID: 1, Host: "here"}
	return store.Lock{Holder: holder, Lost: func(err error) { t.Errorf("told %v", err) }}
}

// TestLockSurvivesCrash kills the server: the lock is there again soon after the server is.
func TestLockSurvivesCrash(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	s := open(t, server.URL("postgres"))
	unlock, err := s.Lock(t.Context(), locked(t, "drive"))
	require.NoError(t, err)
	defer unlock()
	server.Kill()
	require.NoError(t, server.Restart(t.Context()))
	pgtest.Await(t, s.DB(), "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory')")
	_, err = s.Lock(t.Context(), locked(t, "reset"))
	assert.ErrorContains(t, err, "in use by ds2 drive", "lock")
}

// TestLockOfRoleWithoutMaintenance: a role that may connect to no other database than the target
// locks it all the same.
func TestLockOfRoleWithoutMaintenance(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	admin := open(t, server.URL("postgres"))
	pgtest.Exec(
		t,
		admin.DB(),
		"CREATE ROLE guest LOGIN PASSWORD 'guest'",
		"CREATE DATABASE target",
		"REVOKE CONNECT ON DATABASE postgres FROM PUBLIC",
		"REVOKE CONNECT ON DATABASE template1 FROM PUBLIC",
	)
	owner := open(t, server.URL("target"))
	guest := open(t, pgtest.As(t, server.URL("target"), "guest", "guest"))
	for _, c := range []struct {
		why           string
		first, second *postgres.Store
	}{
		{"the guest comes second", owner, guest},
		{"the guest comes first", guest, owner},
		{"two guests", guest, guest},
	} {
		unlock, err := c.first.Lock(t.Context(), locked(t, "drive"))
		require.NoError(t, err, c.why)
		_, err = c.second.Lock(t.Context(), locked(t, "reset"))
		require.ErrorContains(t, err, "in use by ds2 drive", c.why)
		unlock()
	}
}
