package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// lock has one ds2 at a time hold the database, or several of one run.
func (s *suite) lock(t *testing.T) {
	take := func(command, run string) (unlock func(), err error) {
		return s.store.Lock(t.Context(), store.Lock{
			Holder: store.Holder{Command: command, PID: 4711, Host: "driver-1", Since: time.Unix(1_763_700_000, 0)},
			Run:    run,
			Lost:   func(err error) { t.Errorf("the lock was lost: %v", err) },
		})
	}
	refused := func(command, run, by string) {
		t.Helper()
		_, err := take(command, run)
		locked, _ := errors.AsType[*store.LockedError](err)
		require.NotNil(t, locked, "%s beside %s: %v", command, by, err)
		want := "ds2 " + by + ", process 4711 on driver-1, since 2025-11-21 04:40:00 UTC"
		assert.Equal(t, want, locked.By.String(), "%s beside %s", command, by)
	}
	taken := func(command, run string) (unlock func()) {
		t.Helper()
		unlock, err := take(command, run)
		require.NoError(t, err, command)
		return unlock
	}

	unlock := taken("bench", "")
	refused("reset", "", "bench")
	refused("drive", "run-1", "bench")
	unlock()

	first := taken("drive", "run-1")
	second := taken("drive", "run-1")
	refused("drive", "run-2", "drive")
	refused("verify", "", "drive")
	first()
	refused("verify", "", "drive")
	second()
	taken("verify", "")()
	for range 5 { // a lock that was given back is free at once
		taken("load", "")()
		taken("drive", "run-3")()
	}
}
