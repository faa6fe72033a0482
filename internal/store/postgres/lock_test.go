package postgres_test

import (
	"strings"
	"testing"
	"time"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

// TestLockIsTakenAgain ends the connection that holds a lock: it is taken again, or, where another was quicker, that is said.
func TestLockIsTakenAgain(t *testing.T) {
	s := open(t, pgtest.Database(t))
	told := make(chan error, 10)
	lock := func(pid int) store.Lock {
		return store.Lock{Holder: store.Holder{Command: "drive", PID: pid, Host: "here", Since: time.Unix(1e9, 0)}, Lost: func(err error) { told <- err }}
	}
	unlock, err := s.Lock(t.Context(), lock(1))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	end := func() { // waits for the session that holds the lock, and ends it
		t.Helper()
		for n := 0; n == 0; {
			err := s.DB().QueryRowContext(t.Context(), "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'ds2 drive 1 %'").Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
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
	server := pgtest.Start(t, localpg.Options{})
	s := open(t, server.URL("postgres"))
	lock := store.Lock{Holder: store.Holder{Command: "drive", PID: 1, Host: "here"}, Lost: func(err error) { t.Errorf("told %v", err) }}
	unlock, err := s.Lock(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	server.Kill()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := 0; n == 0; time.Sleep(10 * time.Millisecond) {
		if err := s.DB().QueryRowContext(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	lock.Command = "reset"
	if _, err := s.Lock(t.Context(), lock); err == nil || !strings.Contains(err.Error(), "in use by ds2 drive") {
		t.Errorf("lock: %v", err)
	}
}
