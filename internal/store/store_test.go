package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/process"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/internal/topology"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestErrorIsForPeople: of what a server says without end, the beginning is told.
func TestErrorIsForPeople(t *testing.T) {
	e := &store.Error{
		Op:   "load",
		Err:  errors.New(strings.Repeat("x", 5000)),
		Code: "XX000",
		Hint: "call",
	}
	assert.Equal(
		t,
		"load: "+strings.Repeat("x", 4096)+"… (5000 bytes in all) (XX000); call",
		e.Error(),
	)
	assert.Equal(t, "another ds2, which the server does not name", store.Holder{}.String())
}

// TestLostServer: what a server is asked that is gone is an error that names it, and who is asked
// for what it has not refuses.
func TestLostServer(t *testing.T) {
	t.Parallel()
	s := storetest.Loaded(t, postgres.Open, storetest.Size)
	ctx := t.Context()
	_, err := topology.FindProcess(ctx, s, t.TempDir())
	assert.ErrorIs(t, err, process.ErrNone, "of another machine")
	pgtest.Exec(t, s.DB(), "DROP TABLE ds2_info")
	assert.ErrorContains(t, store.SetInfo(ctx, s.DB(), "a", "b"), "42P01")
	require.NoError(t, s.Close())
	_, err = store.Settings(ctx, s)
	assert.ErrorContains(t, err, "ask the server for its settings")
	_, err = topology.Instances(ctx, []store.Database{s})
	assert.ErrorContains(t, err, s.Label())
	_, err = topology.FindProcess(ctx, s, t.TempDir())
	assert.ErrorContains(t, err, "ask for the server's process")
	assert.Error(t, store.SetInfo(ctx, s.DB(), "a", "b"))
	assert.ErrorContains(t, store.Unsupported(s, "wings"), "postgres does not support wings")
}
