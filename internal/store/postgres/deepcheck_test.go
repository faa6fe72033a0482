package postgres_test

import (
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
)

// TestDeepCheckFindsDamage damages pages of a stopped server and has them named. Without checksums a changed byte is
// found only where amcheck can tell that it is wrong: in a header, or in a value that an index holds too.
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
			{"a", false, 13, "a", "invalid page in block 1 "}, {"b_id", true, 8, "b_id", "b_id"},
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
				files[d.file] = pgtest.Value[string](t, db, "SELECT pg_relation_filepath('"+d.file+"')")
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
				pgtest.Flip(t, name, at)
			}
			require.NoError(t, server.Restart(t.Context()))
			got := deepChecked(t, server)
			for _, d := range damages {
				assert.True(t, slices.ContainsFunc(got.Damage, func(g store.Damage) bool {
					return strings.HasPrefix(g.Object, "public."+d.object) && strings.Contains(g.Found, d.found)
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
