package postgres_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/schema"
)

// TestHugeRow has a server answer with a row of 100 MB: the connection is given up, and the memory
// stays.
func TestHugeRow(t *testing.T) { // alone: what other tests allocate would count
	s := open(t, pgtest.Database(t))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var text string
	huge := schema.Statement{Name: "huge", SQL: "SELECT repeat('x', 100000000)"}
	err := s.DB().QueryRowContext(t.Context(), huge.SQL).Scan(&text)
	runtime.ReadMemStats(&after)
	assert.ErrorContains(t, err, "expected at most")
	assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "bytes that it took")
	user, err := s.ConnectUser(t.Context(), huge)
	require.NoError(t, err)
	defer user.Close(t.Context())
	user.Call(&huge)
	err = user.Each(t.Context(), false, func([][]byte) bool { return true })
	assert.ErrorContains(t, err, "expected at most")
	assert.Equal(t, "x", pgtest.Value[string](t, s.DB(), "SELECT 'x'"), "the next query")
}

// TestEndlessNotes has a database whose notes have no end: they are given up.
func TestEndlessNotes(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	pgtest.Exec(
		t,
		s.DB(),
		"CREATE VIEW ds2_info AS SELECT 'x' AS name, generate_series(1, 1e15)::text AS value",
	)
	_, err := store.ReadInfo(t.Context(), s.DB())
	assert.ErrorContains(t, err, "more than 1048576 bytes")
}
