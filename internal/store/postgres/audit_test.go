package postgres_test

import (
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// TestTempLimit prepares sessions of a superuser, whom the server holds to the limit, and of
// another user, whom it does not.
func TestTempLimit(t *testing.T) {
	target := pgtest.Database(t)
	for want, s := range map[string]*postgres.Store{"2MB": open(t, target), "-1": plain(t, target)} {
		conn, err := s.DB().Conn(t.Context())
		require.NoError(t, err)
		defer conn.Close()
		limited, err := s.PrepareRead(t.Context(), conn, true, 2<<20)
		require.NoError(t, err)
		assert.Equal(t, want != "-1", limited)
		var limit string
		require.NoError(t, conn.QueryRowContext(t.Context(), "SHOW temp_file_limit").Scan(&limit))
		assert.Equal(t, want, limit)
	}
}

// TestDiskFullNamesTheFileSystem makes errors of what a server says whose drive is full: of many
// users at once, without a connection for each.
func TestDiskFullNamesTheFileSystem(t *testing.T) {
	s := open(t, pgtest.Database(t))
	unlock, err := s.Lock(
		t.Context(),
		store.Lock{Holder: store.Holder{Command: "verify", PID: 1, Host: "here"}},
	)
	require.NoError(t, err)
	defer unlock()
	const said = `could not write to file "base/pgsql_tmp/pgsql_tmp7.0": No space left on device`
	err = s.Wrap("audit", &pgconn.PgError{Code: "53100", Message: said})
	dir := pgtest.Server(t).DataDir()
	assert.ErrorContains(t, err, "(53100); make room on the server's file system that holds "+dir)
	full := &pgconn.PgError{Code: "53100", Message: `could not extend file "pg_tblspc/1663/1/2"`}
	before := s.DB().Stats()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			assert.ErrorContains(t, s.Wrap("write", full), "make room on the server's drives")
		})
	}
	all.Wait()
	after := s.DB().Stats()
	opened := int64(
		after.OpenConnections-before.OpenConnections,
	) + after.MaxIdleClosed - before.MaxIdleClosed
	assert.LessOrEqual(t, opened, int64(1))
}
