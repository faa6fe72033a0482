package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/calls"
)

func (s *suite) testCancelled(t *testing.T) {
	session := s.openSession(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, logIn(ctx, session), context.Canceled, "call with a cancelled context")
	assert.NoError(t, logIn(t.Context(), session), "the next call, with a good context")

	// A purchase that waits for a lock ends with its context, not with the lock. A server that
	// hears of it late buys all the same, so the customer is one whose purchases no other case
	// counts.
	tx, err := s.store.DB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = tx.ExecContext(
		t.Context(),
		"UPDATE inventory SET quan_in_stock = 1000 WHERE prod_id = 70",
	)
	require.NoError(t, err)
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	id, err := session.Purchase(
		ctx,
		newPurchase(int64(Size.Customers), calls.Item{Product: 70, Quantity: 1}),
	)
	assert.ErrorIs(t, err, context.DeadlineExceeded, "purchase behind a lock: order %d", id)
}

func (s *suite) testKilled(t *testing.T) {
	session := s.openSession(t)
	pgtest.Exec(t, s.store.DB(), s.engine.kill)
	var err error
	for err == nil { // a busy server serves calls for a moment yet
		err = logIn(t.Context(), session)
	}
	assert.Equal(t, store.Connection, store.Classify(err), "%v", err)
	assert.NoError(t, logIn(t.Context(), s.openSession(t)), "after connecting again")
}

// inDoubt cuts connections below operations when the server has done them, so that only the answer
// is lost: what writes is in doubt and there, what reads is not in doubt.
func (s *suite) inDoubt(t *testing.T) {
	var cut atomic.Bool
	through := pgtest.Open(t, s.engine.open, Proxy(t, s.target, dropWhenCut(&cut)))
	buyer := s.idleCustomer(t)
	for _, test := range []struct {
		name string
		call func(calls.Session) error
		done string // the rows that it wrote; empty where it writes nothing
	}{
		{"purchase", func(session calls.Session) error {
			one := newPurchase(buyer, calls.Item{Product: 90, Quantity: 1})
			_, err := session.Purchase(t.Context(), one)
			return err
		}, fmt.Sprintf("orders WHERE customerid = %d", buyer)},
		{"new customer", func(session calls.Session) error {
			_, err := session.NewCustomer(t.Context(), newCustomer("newuser9"))
			return err
		}, "customers WHERE username = 'newuser9'"},
		{"login", func(session calls.Session) error { return logIn(t.Context(), session) }, ""},
		{"browse", func(session calls.Session) error {
			browse := &calls.Browse{Op: calls.OpBrowseByCategory, Batch: 5, Category: 3}
			_, err := session.Browse(t.Context(), browse)
			return err
		}, ""},
	} {
		s.setStock(t, 100, 90)
		cut.Store(false)
		session, err := s.engine.calls(t.Context(), through)
		require.NoError(t, err)
		t.Cleanup(func() { session.Close(context.Background()) })
		cut.Store(true)
		err = test.call(session)
		e, ok := errors.AsType[*store.Error](err)
		assert.True(t, ok && e.Class == store.Connection && e.InDoubt == (test.done != ""),
			"%s whose answer was lost: %#v", test.name, err)
		if test.done != "" {
			for begun := time.Now(); s.countRows(t, "%s", test.done) == 0; time.Sleep(10 * time.Millisecond) {
				require.Less(t, time.Since(begun), 5*time.Minute,
					"the %s in doubt never came to be: the test cut too early", test.name)
			}
		}
		err = logIn(t.Context(), session)
		assert.Equal(
			t,
			store.Connection,
			store.Classify(err),
			"call on the lost connection: %v",
			err,
		)
	}

	// What the server refused is not in doubt, nor is what was never sent.
	cut.Store(false)
	session := s.openSession(t)
	_, err := session.Purchase(
		t.Context(),
		newPurchase(1<<30, calls.Item{Product: 90, Quantity: 1}),
	)
	e, ok := errors.AsType[*store.Error](err)
	assert.True(t, ok && !e.InDoubt, "purchase of a customer who does not exist: %#v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = session.Purchase(ctx, newPurchase(buyer, calls.Item{Product: 90, Quantity: 1}))
	e, ok = errors.AsType[*store.Error](err)
	assert.False(t, ok && e.InDoubt, "purchase that was never sent: %#v", err)
}

// dropWhenCut is a pass of Proxy that, while cut is set, drops the connection instead of passing an
// answer on.
func dropWhenCut(cut *atomic.Bool) func(client, server net.Conn) {
	return func(client, server net.Conn) {
		go func() {
			io.Copy(server, client)
			server.Close()
		}()
		answer := make([]byte, 64<<10)
		for {
			n, err := server.Read(answer)
			if err != nil || cut.Load() {
				return
			}
			client.Write(answer[:n])
		}
	}
}

// testLock has one ds2 at a time hold the database, or several of one run.
func (s *suite) testLock(t *testing.T) {
	take := func(command, run string) (unlock func(), err error) {
		return s.store.Lock(t.Context(), store.Lock{
			Holder: store.Holder{
				Command: command,
				PID:     4711,
				Host:    "driver-1",
				Since:   time.Unix(1_763_700_000, 0),
			},
			Run:  run,
			Lost: func(err error) { t.Errorf("the lock was lost: %v", err) },
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
