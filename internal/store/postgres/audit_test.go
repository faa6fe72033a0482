package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

// TestTempLimit prepares sessions of a superuser, whom the server holds to the limit, and of another user, whom it does
// not.
func TestTempLimit(t *testing.T) {
	target := pgtest.Database(t)
	super := open(t, target)
	pgtest.Exec(t, super.DB(), "CREATE ROLE reader LOGIN PASSWORD 'reader'")
	t.Cleanup(func() { super.DB().Exec("DROP ROLE reader") })
	for name, c := range map[string]struct {
		target string
		want   string
	}{"a superuser": {target, "2MB"}, "another user": {pgtest.As(t, target, "reader", "reader"), "-1"}} {
		s := open(t, c.target)
		conn, err := s.DB().Conn(t.Context())
		require.NoError(t, err)
		defer conn.Close()
		limited, err := s.PrepareRead(t.Context(), conn, true, 2<<20)
		assert.True(t, err == nil && limited == (c.want != "-1"), "%s: limited %t, %v", name, limited, err)
		var limit string
		if err := conn.QueryRowContext(t.Context(), "SHOW temp_file_limit").Scan(&limit); err != nil || limit != c.want {
			t.Errorf("%s: temp_file_limit is %s, want %s; %v", name, limit, c.want, err)
		}
	}
}

// TestDiskFullNamesTheFileSystem makes an error of what a server says whose drive is full.
func TestDiskFullNamesTheFileSystem(t *testing.T) {
	s := open(t, pgtest.Database(t))
	unlock, err := s.Lock(t.Context(), store.Lock{Holder: store.Holder{Command: "verify", PID: 1, Host: "here"}})
	require.NoError(t, err)
	defer unlock()
	err = s.Wrap("audit", &pgconn.PgError{Code: "53100", Message: `could not write to file "base/pgsql_tmp/pgsql_tmp7.0": No space left on device`})
	want := "(53100); make room on the server's file system that holds " + pgtest.Server(t).DataDir()
	assert.Contains(t, err.Error(), want, "got %v", err)
}
