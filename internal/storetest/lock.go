package storetest

import (
	"errors"
	"testing"
	"time"

	"ds2/internal/store"
)

// lock has one ds2 at a time hold the database, or several of one run.
func (s *suite) lock(t *testing.T) {
	take := func(command, run string) (unlock func(), by store.Holder) {
		t.Helper()
		unlock, err := s.store.Lock(t.Context(), store.Lock{
			Holder: store.Holder{Command: command, PID: 4711, Host: "driver-1", Since: time.Unix(1_763_700_000, 0).UTC()},
			Run:    run,
			Lost:   func(err error) { t.Errorf("the lock was lost: %v", err) },
		})
		if e, ok := errors.AsType[*store.LockedError](err); ok {
			return nil, e.By
		} else if err != nil {
			t.Fatal(err)
		}
		return unlock, store.Holder{}
	}
	refused := func(command, run, by string) {
		t.Helper()
		unlock, holder := take(command, run)
		if unlock != nil {
			unlock()
			t.Errorf("%s has the lock beside %s", command, by)
		} else if want := "ds2 " + by + ", process 4711 on driver-1, since 2025-11-21 04:40:00 UTC"; holder.String() != want {
			t.Errorf("the holder is %s, want %s", holder, want)
		}
	}
	taken := func(command, run string) (unlock func()) {
		t.Helper()
		unlock, by := take(command, run)
		if unlock == nil {
			t.Fatalf("%s is refused because of %s", command, by)
		}
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
