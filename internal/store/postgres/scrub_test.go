package postgres_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// plain is a store for a role without any right besides those of PUBLIC.
func plain(t *testing.T, target string) *postgres.Store {
	t.Helper()
	admin := open(t, target)
	pgtest.Exec(
		t,
		admin.DB(),
		"DROP ROLE IF EXISTS ds2_reader",
		"CREATE ROLE ds2_reader LOGIN PASSWORD 'reader'",
	)
	t.Cleanup(func() {
		admin.DB().Exec("DROP OWNED BY ds2_reader")
		admin.DB().Exec("DROP ROLE ds2_reader")
	})
	return open(t, pgtest.As(t, target, "ds2_reader", "reader"))
}

// pass reads once through the database.
func pass(t *testing.T, r store.Reader) (bytes int64) {
	t.Helper()
	for last := false; !last; {
		read, err := r.Read(t.Context())
		require.NoError(t, err)
		require.LessOrEqual(t, read.Bytes, int64(store.ScrubRequest), "a request")
		bytes = bytes + read.Bytes
		last = read.Last
	}
	return bytes
}

func TestScrub(t *testing.T) {
	target := pgtest.Database(t)
	s := open(t, target)
	pgtest.Exec(t, s.DB(), `
		CREATE TABLE big AS SELECT n, repeat('x', 500) AS text FROM generate_series(1, 20000) n;
		CREATE INDEX ON big (n); CREATE TABLE gone AS SELECT generate_series(1, 100000)`)
	r, err := s.OpenScrub(t.Context())
	require.NoError(t, err)
	defer r.Close()
	all := pgtest.Value[int64](t, s.DB(), `
		SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relkind IN ('r', 'i', 'm', 'S', 't') AND NOT relisshared`)
	bytes := pass(t, r)
	assert.Equal(t, all, bytes, "a pass read")

	// A table that grew is read whole the next time, and one that goes away while it is read ends
	// no scan.
	pgtest.Exec(
		t,
		s.DB(),
		"INSERT INTO big SELECT n, repeat('y', 500) FROM generate_series(1, 20000) n",
	)
	_, err = r.Read(t.Context()) // which lists the files
	require.NoError(t, err)
	pgtest.Exec(t, s.DB(), "DROP TABLE gone; CHECKPOINT") // which removes the file
	assert.GreaterOrEqual(
		t,
		pass(t, r),
		bytes+6_000_000,
		"the second pass, of another 10 MB and less 3.6 MB",
	)

	pgtest.Exec(t, s.DB(), killOthers)
	_, err = r.Read(t.Context())
	assert.Equal(
		t,
		store.Connection,
		store.Classify(err),
		"on a connection that was ended: %v",
		err,
	)
}

// TestRights has a role without any right do what takes one: the error names it, and with the right
// it can be done.
func TestRights(t *testing.T) {
	target := pgtest.Database(t)
	admin := open(t, target).DB()
	s := plain(t, target)
	for _, c := range []struct {
		do    func(context.Context) error
		says  string
		grant string // empty: not here
	}{
		{
			func(ctx context.Context) error {
				r, err := s.OpenScrub(ctx)
				if err == nil {
					pass(t, r)
					r.Close()
				}
				return err
			}, "GRANT EXECUTE ON FUNCTION pg_read_binary_file",
			"GRANT EXECUTE ON FUNCTION pg_read_binary_file(text, bigint, bigint, boolean) TO ds2_reader",
		},
		{s.Checkpoint, "CHECKPOINT", ""},
		{
			s.MayCheckpoint, `GRANT pg_checkpoint TO "ds2_reader"`,
			"GRANT pg_checkpoint TO ds2_reader",
		},
	} {
		refused(t, c.do(t.Context()), store.Config, c.says)
		if c.grant == "" {
			continue
		}
		if _, err := admin.Exec(c.grant); err != nil {
			t.Skip("a server before 15: ", err)
		}
		assert.NoError(t, c.do(t.Context()), c.grant)
	}
}

// TestDeepCheckRights: a role that may not make or call amcheck is told what to ask for, and with
// that it may check. A check that the server ends is an error.
func TestDeepCheckRights(t *testing.T) {
	target := pgtest.Database(t)
	admin := open(t, target).DB()
	can := plain(t, target)
	const revoke = "REVOKE ALL ON FUNCTION bt_index_parent_check(regclass, boolean) FROM ds2_reader"
	for _, first := range []string{"SELECT", revoke} {
		pgtest.Exec(t, admin, first)
		err := can.MayDeepCheck(t.Context())
		refused(t, err, store.Config, "GRANT EXECUTE ON FUNCTION ")
		_, ask, _ := strings.Cut(err.Error(), "run in this database: ")
		pgtest.Exec(t, admin, strings.Split(ask, "; ")...)
	}
	found, err := can.DeepCheck(t.Context(), progress.Ignore)
	require.NoError(t, err)
	assert.Empty(t, found.Damage)

	s := open(t, target)
	_, err = s.DeepCheck(t.Context(), func(string, int64, int64) {
		pgtest.Exec(t, admin, killOthers)
	})
	assert.Equal(
		t,
		store.Connection,
		store.Classify(s.Wrap("check", err)),
		"a server that ends it: %v",
		err,
	)
}

// TestScrubGoesOn has a file that cannot be read: the error names it, and the scan goes on behind
// it.
func TestScrubGoesOn(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{Settings: map[string]string{"fsync": "off"}})
	s := open(t, server.URL("postgres"))
	pgtest.Exec(t, s.DB(), "CREATE TABLE bad AS SELECT generate_series(1, 200000)", "CHECKPOINT")
	path := pgtest.Value[string](t, s.DB(), "SELECT pg_relation_filepath('bad')")
	file := filepath.Join(server.DataDir(), path)
	require.NoError(t, os.Rename(file, file+"-was"))
	require.NoError(t, os.Mkdir(file, 0o755)) // which can be opened, has a size, and cannot be read
	r, err := s.OpenScrub(t.Context())
	require.NoError(t, err)
	defer r.Close()
	failed := 0
	for last := false; !last; {
		read, err := r.Read(t.Context())
		if last = read.Last; err != nil {
			failed++
			refused(t, err, store.Resource, path)
		}
	}
	assert.NotEqual(t, 0, failed, "no request failed")
}

// TestDeepCheckFindsDamage damages pages of a stopped server and has them named. Without checksums
// a changed byte is found only where amcheck can tell that it is wrong: in a header, or in a value
// that an index holds too.
func TestDeepCheckFindsDamage(t *testing.T) {
	t.Parallel()
	type damage struct {
		file   string
		row    bool  // offset is from the start of the first row of page 1, not of the page
		offset int64 // of the byte to change
		object string
		found  string // part of what the deep check has to say
	}
	for why, damages := range map[string][]damage{
		"with checksums": {
			{"a", false, 5000, "a", "invalid page in block 1 "},
			{"b_id", false, 5000, "b_id", "invalid page in block 1 "},
		},
		"without checksums": {
			{"a", false, 13, "a", "invalid page in block 1 "},
			{"b_id", true, 8, "b_id", "b_id"},
			{"c", true, 24, "c_id", "lacks matching index tuple within index \"c_id\""},
		},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			checksums := why == "with checksums"
			server := pgtest.Start(t, localpg.Options{Checksums: checksums})
			db := open(t, server.URL("postgres")).DB()
			for _, table := range []string{"a", "b", "c"} {
				pgtest.Exec(t, db, fmt.Sprintf(`CREATE TABLE %[1]s (id int, words text);
					INSERT INTO %[1]s SELECT n, repeat('other', 20) FROM generate_series(1, 2000) n;
					CREATE INDEX %[1]s_id ON %[1]s (id)`, table))
			}
			files := map[string]string{}
			for _, d := range damages {
				files[d.file] = pgtest.Value[string](
					t,
					db,
					"SELECT pg_relation_filepath('"+d.file+"')",
				)
			}
			whole := deepChecked(t, server)
			assert.Empty(t, whole.Damage, "of a new database")
			assert.Greater(t, whole.Objects, 100)
			assert.Equal(t, checksums, whole.Checksums)
			pgtest.Exec(t, db, "CHECKPOINT") // recovery then writes no page again
			server.Kill()
			for _, d := range damages {
				name := filepath.Join(server.DataDir(), files[d.file])
				at := 8192 + d.offset
				if d.row { // 15 bits of the first row's line are its place
					content, err := os.ReadFile(name)
					require.NoError(t, err)
					at += int64(binary.LittleEndian.Uint32(content[8192+24:]) & 0x7fff)
				}
				flipByte(t, name, at)
			}
			require.NoError(t, server.Restart(t.Context()))
			got := deepChecked(t, server)
			for _, d := range damages {
				assert.True(t, slices.ContainsFunc(got.Damage, func(g store.Damage) bool {
					return strings.HasPrefix(g.Object, "public."+d.object) &&
						strings.Contains(g.Found, d.found)
				}), "%+v is not in %+v", d, got.Damage)
			}
			require.Equal(t, checksums, got.ChecksumFailures != nil)
		})
	}
}

// deepChecked makes a deep check, which leaves no extension behind.
func deepChecked(t *testing.T, server *localpg.Server) store.DeepCheck {
	t.Helper()
	s := open(t, server.URL("postgres"))
	got, err := s.DeepCheck(t.Context(), progress.Ignore)
	require.NoError(t, err)
	const left = "SELECT count(*) FROM pg_extension WHERE extname = 'amcheck'"
	assert.Zero(t, pgtest.Value[int](t, s.DB(), left), "extensions are left behind")
	return got
}

// flipByte changes a byte of a file.
func flipByte(t testing.TB, path string, at int64) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content[at] ^= 0xff
	require.NoError(t, os.WriteFile(path, content, 0))
}
