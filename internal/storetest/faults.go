package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/workload/ds2/calls"
)

func (s *suite) cancelled(t *testing.T) {
	session := s.connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := session.Login(ctx, []byte("user1"), []byte("password")); !errors.Is(err, context.Canceled) {
		t.Errorf("call with a cancelled context: %v", err)
	}
	if _, err := session.Login(t.Context(), []byte("user1"), []byte("password")); err != nil {
		t.Errorf("the next call, with a good context: %v", err)
	}

	// A purchase that waits for a lock ends with its context, not with the lock.
	tx, err := s.store.DB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = tx.ExecContext(t.Context(), "UPDATE inventory SET quan_in_stock = 1000 WHERE prod_id = 70")
	require.NoError(t, err)
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	id, err := session.Purchase(ctx, order(1, calls.Item{Product: 70, Quantity: 1}))
	assert.ErrorIs(t, err, context.DeadlineExceeded, "purchase behind a lock: order %d", id)
}

func (s *suite) killed(t *testing.T) {
	session := s.connect(t)
	s.exec(t, s.engine.Kill)
	_, err := session.Login(t.Context(), []byte("user1"), []byte("password"))
	assert.Equal(t, store.Connection, store.Classify(err), "%v", err)
	if _, err := s.connect(t).Login(t.Context(), []byte("user1"), []byte("password")); err != nil {
		t.Errorf("after connecting again: %v", err)
	}
}
