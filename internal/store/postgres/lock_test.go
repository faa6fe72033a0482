package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// TestLockIsTakenAgain ends the connection that holds a lock: it is taken again, or, where another was quicker, that is
// said.
func TestLockIsTakenAgain(t *testing.T) {
	s := open(t, pgtest.Database(t))
	told := make(chan error, 10)
	lock := func(pid int) store.Lock {
		return store.Lock{Holder: store.Holder{Command: "drive", PID: pid, Host: "here", Since: time.Unix(1e9, 0)}, Lost: func(err error) { told <- err }}
	}
	unlock, err := s.Lock(t.Context(), lock(1))
	require.NoError(t, err)
	defer unlock()
	end := func() { // waits for the session that holds the lock, and ends it
		t.Helper()
		for n := 0; n == 0; {
			err := s.DB().QueryRowContext(t.Context(), "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'ds2 drive 1 %'").Scan(&n)
			require.NoError(t, err)
		}
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
	if err := <-told; err.Error() != s.Label()+" is in use by ds2 drive, process 2 on here, since 2001-09-09 01:46:40 UTC: wait for its end, or stop it" {
		t.Errorf("told %v", err)
	}
}

// TestLockSurvivesCrash kills the server: the lock is there again soon after the server is.
func TestLockSurvivesCrash(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	s := open(t, server.URL("postgres"))
	lock := store.Lock{Holder: store.Holder{Command: "drive", PID: 1, Host: "here"}, Lost: func(err error) { t.Errorf("told %v", err) }}
	unlock, err := s.Lock(t.Context(), lock)
	require.NoError(t, err)
	defer unlock()
	server.Kill()
	require.NoError(t, server.Restart(t.Context()))
	for n := 0; n == 0; time.Sleep(10 * time.Millisecond) {
		require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").Scan(&n))
	}
	lock.Command = "reset"
	_, err = s.Lock(t.Context(), lock)
	assert.ErrorContains(t, err, "in use by ds2 drive", "lock")
}

// TestLockOfRoleWithoutMaintenance: a role that may connect to no other database than the target locks it all the same.
func TestLockOfRoleWithoutMaintenance(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	admin := open(t, server.URL("postgres"))
	pgtest.Exec(t, admin.DB(),
		"CREATE ROLE guest LOGIN PASSWORD 'guest'", "CREATE DATABASE target",
		"REVOKE CONNECT ON DATABASE postgres FROM PUBLIC", "REVOKE CONNECT ON DATABASE template1 FROM PUBLIC",
	)
	owner, guest := open(t, server.URL("target")), open(t, pgtest.As(t, server.URL("target"), "guest", "guest"))
	lock := func(command string) store.Lock {
		return store.Lock{Holder: store.Holder{Command: command, PID: 1, Host: "here"}, Lost: func(err error) { t.Errorf("told %v", err) }}
	}
	for _, c := range []struct {
		why           string
		first, second *postgres.Store
	}{
		{"the guest comes second", owner, guest},
		{"the guest comes first", guest, owner},
		{"two guests", guest, guest},
	} {
		unlock, err := c.first.Lock(t.Context(), lock("drive"))
		require.NoError(t, err, c.why)
		if second, err := c.second.Lock(t.Context(), lock("reset")); err == nil {
			second()
			t.Errorf("%s: both have the lock", c.why)
		} else if !strings.Contains(err.Error(), "in use by ds2 drive") {
			t.Errorf("%s: %v", c.why, err)
		}
		unlock()
	}
}
