package postgres

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
)

// TestReadFiles reads ahead of a copy that takes a GB in 4 s: never further than allowed, and
// nothing that the copy has passed.
func TestReadFiles(t *testing.T) {
	files := []dataFile{{"a", 1_000_000_000}, {"empty", 0}, {"b", 500_000_001}}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		copied := func() int64 { return min(time.Since(begin).Milliseconds()*250_000, 1.5e9) }
		read := map[string]int64{} // bytes
		readFiles(t.Context(), files, copied, func(path string, offset int64) error {
			inOrder := offset == read[path] && (path != "b" || read["a"] >= 1e9)
			require.True(t, inOrder, "read %s at %d after %v", path, offset, read)
			read[path] += aheadChunk
			require.LessOrEqual(
				t,
				read["a"]+read["b"],
				copied()+aheadMost+10e6,
				"ahead of the copy",
			)
			return nil
		})
		assert.True(t, read["a"] >= 1e9 && read["b"] >= 5e8, "read %v", read)
		assert.GreaterOrEqual(t, time.Since(begin), 4*time.Second)
	})
	reads := 0
	count := func(string, int64) error { reads++; return nil }
	readFiles(t.Context(), files, func() int64 { return 1.501e9 }, count)
	assert.Equal(t, 0, reads, "%d reads of what is copied already", reads)
	refuse := func(string, int64) error { reads++; return errors.New("refused") }
	readFiles(t.Context(), files, func() int64 { return 0 }, refuse)
	assert.Equal(t, 1, reads, "%d reads, the first refused", reads)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	readFiles(ctx, files, func() int64 { return 0 }, count) // ends
}

// TestFilesOf lists the files of a database, of which one is in a tablespace, in the order of their
// directories.
func TestFilesOf(t *testing.T) {
	server := pgtest.Server(t)
	url := pgtest.Database(t)
	conn := connection(t, url,
		"SET allow_in_place_tablespaces = on",
		"CREATE TABLESPACE ds2_ahead LOCATION ''",
		// A vacuum by the server itself would add files.
		"CREATE TABLE here WITH (autovacuum_enabled = off) AS SELECT generate_series(1, 100000)",
		"CREATE TABLE there WITH (autovacuum_enabled = off) TABLESPACE ds2_ahead "+
			"AS SELECT generate_series(1, 100000)",
		"CHECKPOINT")
	db := pgtest.Open(t, Open, url).(*Store).DB()
	t.Cleanup(func() { pgtest.Exec(t, db, "DROP TABLE there", "DROP TABLESPACE ds2_ahead") })
	size := pgtest.Value[int64](t, db, "SELECT pg_database_size(current_database())")
	here := pgtest.Value[string](t, db, "SELECT pg_relation_filepath('here')")
	there := pgtest.Value[string](t, db, "SELECT pg_relation_filepath('there')")
	files, err := filesOf(t.Context(), conn, conn.Config().Database)
	require.NoError(t, err)
	var sum int64
	var names []string
	for _, f := range files {
		sum += f.Size
		if filepath.Dir(f.Path) == filepath.Dir(here) {
			names = append(names, filepath.Base(f.Path))
		}
	}
	assert.Equal(t, size, sum, "%d files", len(files))
	isThere := func(f dataFile) bool { return f.Path == there }
	assert.True(t, slices.ContainsFunc(files, isThere), "%s in %v", there, files)
	directory, err := os.Open(filepath.Join(server.DataDir(), filepath.Dir(here)))
	require.NoError(t, err)
	defer directory.Close()
	want, err := directory.Readdirnames(-1)
	require.NoError(t, err)
	assert.Equal(t, want, names, "%s: the files are listed as the directory has them", here)
}
