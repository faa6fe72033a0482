package postgres_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// plain is a store for a role without any right besides those of everybody.
func plain(t *testing.T, target string) *postgres.Store {
	t.Helper()
	admin := open(t, target)
	pgtest.Exec(t, admin.DB(), "DROP ROLE IF EXISTS ds2_reader", "CREATE ROLE ds2_reader LOGIN PASSWORD 'reader'")
	t.Cleanup(func() {
		admin.DB().Exec("DROP OWNED BY ds2_reader")
		admin.DB().Exec("DROP ROLE ds2_reader")
	})
	return open(t, pgtest.As(t, target, "ds2_reader", "reader"))
}

// pass reads once through the database.
func pass(t *testing.T, r store.Reader) (requests int, bytes int64) {
	t.Helper()
	for {
		read, err := r.Read(t.Context())
		require.NoError(t, err)
		require.True(t, read.Bytes <= store.ScrubRequest, "a request of %d bytes", read.Bytes)
		requests, bytes = requests+1, bytes+read.Bytes
		if read.Last {
			return requests, bytes
		}
	}
}

func TestScrub(t *testing.T) {
	target := pgtest.Database(t)
	s := open(t, target)
	pgtest.Exec(t, s.DB(), `
		CREATE TABLE big AS SELECT n, repeat('x', 500) AS text FROM generate_series(1, 20000) n;
		CREATE INDEX ON big (n); CREATE TABLE gone AS SELECT generate_series(1, 100000)`)
	r, err := s.Can().OpenScrub(t.Context())
	require.NoError(t, err)
	defer r.Close()
	var all, large int64
	if err := s.DB().QueryRow(`
		SELECT sum(bytes), count(*) FILTER (WHERE bytes > 262144) FROM (SELECT pg_relation_size(oid) AS bytes FROM pg_class
			WHERE relkind IN ('r', 'i', 'm', 'S', 't') AND NOT relisshared) f`).Scan(&all, &large); err != nil {
		t.Fatal(err)
	}
	requests, bytes := pass(t, r)
	assert.Equal(t, all, bytes, "a pass read")
	t.Logf("%d requests for %d bytes in a pass, %d files of more than one request", requests, bytes, large)

	// A table that grew is read whole the next time, and one that goes away while it is read ends no scan.
	pgtest.Exec(t, s.DB(), "INSERT INTO big SELECT n, repeat('y', 500) FROM generate_series(1, 20000) n")
	if _, err := r.Read(t.Context()); err != nil { // which lists the files
		t.Fatal(err)
	}
	pgtest.Exec(t, s.DB(), "DROP TABLE gone; CHECKPOINT") // which removes the file
	if _, again := pass(t, r); again < bytes+6_000_000 {
		t.Errorf("the second pass read %d bytes, after %d, another 10 MB and less 3.6 MB", again, bytes)
	}

	pgtest.Exec(t, s.DB(), killOthers)
	if _, err := r.Read(t.Context()); store.Classify(err) != store.Connection {
		t.Errorf("on a connection that was ended: %v", err)
	}
}

func TestScrubTakesARight(t *testing.T) {
	target := pgtest.Database(t)
	s := plain(t, target)
	_, err := s.Can().OpenScrub(t.Context())
	refused(t, err, store.Config, "GRANT EXECUTE ON FUNCTION pg_read_binary_file")
	pgtest.Exec(t, open(t, target).DB(), "GRANT EXECUTE ON FUNCTION pg_read_binary_file(text, bigint, bigint, boolean) TO ds2_reader")
	r, err := s.Can().OpenScrub(t.Context())
	require.NoError(t, err)
	defer r.Close()
	pass(t, r)
}

// TestScrubGoesOn has a file that cannot be read: the error names it, and the scan goes on behind it.
func TestScrubGoesOn(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{Settings: map[string]string{"fsync": "off"}})
	s := open(t, server.URL("postgres"))
	var path, data string
	pgtest.Exec(t, s.DB(), "CREATE TABLE bad AS SELECT generate_series(1, 200000)")
	require.NoError(t, s.DB().QueryRow("SELECT pg_relation_filepath('bad'), current_setting('data_directory')").Scan(&path, &data))
	file := filepath.Join(data, path)
	pgtest.Exec(t, s.DB(), "CHECKPOINT")
	require.NoError(t, os.Rename(file, file+"-was"))
	if err := os.Mkdir(file, 0o755); err != nil { // which can be opened, has a size, and cannot be read
		t.Fatal(err)
	}
	r, err := s.Can().OpenScrub(t.Context())
	require.NoError(t, err)
	defer r.Close()
	failed := 0
	for last := false; !last; {
		read, err := r.Read(t.Context())
		if last = read.Last; err != nil {
			failed++
			if store.Classify(err) != store.Resource || !strings.Contains(err.Error(), path) {
				t.Fatalf("a file that cannot be read: %v", err)
			}
		}
	}
	assert.NotEqual(t, 0, failed, "no request failed")
}
