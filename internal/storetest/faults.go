package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/workload/ds2/calls"
)

func (s *suite) cancelled(t *testing.T) {
	session := s.connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, logIn(ctx, session), context.Canceled, "call with a cancelled context")
	assert.NoError(t, logIn(t.Context(), session), "the next call, with a good context")

	// A purchase that waits for a lock ends with its context, not with the lock. A server that hears of it late buys
	// all the same, so the customer is one whose purchases no other case counts.
	tx, err := s.store.DB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = tx.ExecContext(t.Context(), "UPDATE inventory SET quan_in_stock = 1000 WHERE prod_id = 70")
	require.NoError(t, err)
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	id, err := session.Purchase(ctx, order(int64(Size.Customers), calls.Item{Product: 70, Quantity: 1}))
	assert.ErrorIs(t, err, context.DeadlineExceeded, "purchase behind a lock: order %d", id)
}

func (s *suite) killed(t *testing.T) {
	session := s.connect(t)
	pgtest.Exec(t, s.store.DB(), s.engine.Kill)
	var err error
	for err == nil { // a busy server serves calls for a moment yet
		err = logIn(t.Context(), session)
	}
	assert.Equal(t, store.Connection, store.Classify(err), "%v", err)
	assert.NoError(t, logIn(t.Context(), s.connect(t)), "after connecting again")
}
