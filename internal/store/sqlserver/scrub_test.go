package sqlserver_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/store/sqlserver/servertest"
	"ds2/schema"
)

// open makes a store of a URL.
func open(t *testing.T, text string) *sqlserver.Store {
	t.Helper()
	target, err := url.Parse(text)
	require.NoError(t, err)
	s, err := sqlserver.Open(target)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s.(*sqlserver.Store)
}

// created is a store of a new database, in which some statements were run.
func created(t *testing.T, statements ...string) *sqlserver.Store {
	t.Helper()
	s := open(t, servertest.Database(t))
	create := []schema.Statement{{Name: "create database", SQL: "CREATE DATABASE " + s.Name()}}
	require.NoError(t, s.CreateDatabase(t.Context(), create))
	for _, statement := range statements {
		_, err := s.DB().ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	return s
}

// TestScrub reads a database to its end twice, and is stopped in the middle of the third time.
func TestScrub(t *testing.T) {
	s := created(t,
		"CREATE TABLE a (id int NOT NULL PRIMARY KEY CLUSTERED, body varbinary(7000) NOT NULL)",
		"CREATE TABLE empty (id int NOT NULL)",
		"CREATE TABLE b (id int NOT NULL, body varbinary(7000) NOT NULL)",
		`DECLARE @i int = 0; WHILE @i < 300 BEGIN
			INSERT INTO a VALUES (@i, CAST(REPLICATE(CAST('x' AS varchar(8000)), 7000) AS varbinary(7000)));
			INSERT INTO b VALUES (@i, CAST(REPLICATE(CAST('x' AS varchar(8000)), 7000) AS varbinary(7000)));
			SET @i = @i + 1; END`)
	var all int64
	for _, table := range []string{"dbo.a", "dbo.b"} {
		bytes, err := s.TableBytes(t.Context(), table)
		require.NoError(t, err)
		all += bytes
	}
	r, err := s.Can().OpenScrub(t.Context())
	require.NoError(t, err)
	defer r.Close()
	for pass := range 2 {
		var bytes int64
		for requests := 1; ; requests++ {
			read, err := r.Read(t.Context())
			require.NoError(t, err)
			if bytes += read.Bytes; read.Bytes > 2*store.ScrubRequest || requests > 1000 {
				t.Fatalf("request %d: %+v", requests, read)
			}
			if read.Last {
				break
			}
		}
		if bytes < all*95/100 || bytes > all*105/100 {
			t.Errorf("pass %d: %d bytes of %d", pass, bytes, all)
		}
	}
	_, err = r.Read(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	time.Sleep(50 * time.Millisecond)
	start := time.Now()
	for range 100 {
		if _, err = r.Read(ctx); err != nil {
			break
		}
	}
	if err == nil || time.Since(start) > time.Minute {
		t.Errorf("after its context has ended: %v in %s", err, time.Since(start))
	}
}
