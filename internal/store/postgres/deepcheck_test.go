package postgres_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

// TestDeepCheckFindsDamage damages pages of a stopped server and has them named. Without checksums a changed byte is
// found only where amcheck can tell that it is wrong: in a header, or in a value that an index holds too.
func TestDeepCheckFindsDamage(t *testing.T) {
	t.Parallel()
	type damage struct {
		object, fork string
		page         int64
		row          bool   // offset is from the start of the page's first row, not of the page
		offset       int64  // of the byte to change
		place, found string // parts of what the deep check has to say
	}
	for _, c := range []struct {
		why       string
		checksums bool
		rows      int
		tables    []string
		damage    []damage
	}{
		{"with checksums every changed byte is found", true, 10000, []string{"goods"}, []damage{
			{"goods", "main", 1, false, 5000, "main block 1", "invalid page in block 1 "},
			{"goods", "main", 130, false, 5000, "main block 130", "invalid page in block 130 "},
			{"goods", "fsm", 2, false, 5000, "fsm block 2", "invalid page in block 2 "},
			{"goods_id", "main", 3, false, 5000, "main block 3", "invalid page in block 3 "},
			{"goods_words", "main", 1, false, 5000, "main block 1", "invalid page in block 1 "},
		}},
		{"without, headers and values that an index holds", false, 2000, []string{"a", "b", "c", "d", "e"}, []damage{
			{"a", "main", 1, false, 13, "main block 1", "invalid page in block 1 "},
			{"b_words", "main", 1, false, 13, "main block 1", "invalid page in block 1 "},
			{"c", "main", 1, true, 22, "main block 1 row 1", "tuple data should begin at byte 24"},
			{"d_id", "main", 1, true, 8, "", "d_id"},
			{"e", "main", 1, true, 24, "", "lacks matching index tuple within index \"e_id\""},
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Start(t, localpg.Options{Checksums: c.checksums})
			files := fill(t, server, c.rows, c.tables...)
			server.Kill()
			for _, d := range c.damage {
				flip(t, filepath.Join(server.DataDir(), files[d.object+" "+d.fork]), d.page, d.row, d.offset)
			}
			require.NoError(t, server.Restart(t.Context()))
			got := deepChecked(t, server)
			several := deepChecked(t, server, store.DeepReading{Readers: 4})
			assert.ElementsMatch(t, got.Damage, several.Damage, "4 readers")
			assert.Equal(t, got.Reading.Bad, several.Reading.Bad, "4 readers")
			assert.Equal(t, 4, several.Reading.Readers)
			if c.checksums {
				assert.EqualValues(t, len(c.damage), got.Reading.Bad, "%+v", got.Damage)
				assert.Len(t, got.Damage, len(c.damage))
			}
			assert.Equal(t, c.checksums, got.Checksums, "the deep check says checksums")
			for _, d := range c.damage {
				if major(t, server) == 13 && d.offset == 22 {
					d.place, d.found = "", "" // it cannot say where a row's header is wrong, only that the table is
				}
				table, _, _ := strings.Cut(d.object, "_")
				named := slices.ContainsFunc(got.Damage, func(g store.Damage) bool {
					return strings.HasPrefix(g.Object, "public."+table) &&
						strings.Contains(g.Place, d.place) && strings.Contains(g.Found, d.found)
				})
				assert.True(t, named, "%s %s page %d is not in %+v", d.object, d.fork, d.page, got.Damage)
			}
		})
	}
}

// fill makes tables with indexes of the two kinds that the workload has, and gives the file of each fork.
func fill(t *testing.T, server *localpg.Server, rows int, tables ...string) map[string]string {
	t.Helper()
	db := open(t, server.URL("postgres")).DB()
	for _, table := range tables {
		pgtest.Exec(t, db, fmt.Sprintf(`CREATE TABLE %[1]s (id int, words text);
			INSERT INTO %[1]s SELECT n, 'word' || n || repeat(' other', 20) FROM generate_series(1, %[2]d) n;
			CREATE INDEX %[1]s_id ON %[1]s (id);
			CREATE INDEX %[1]s_words ON %[1]s USING gin (to_tsvector('simple', words))`, table, rows),
			"VACUUM "+table) // makes the other forks
	}
	got := deepChecked(t, server)
	require.True(t, len(got.Damage) == 0 && got.Objects >= 100 && got.Bytes >= 5e6 && got.Reading != nil,
		"a new database is deep-checked as %+v", got)
	unchecked, table := fmt.Sprint(got.Unchecked), "public."+tables[0]
	assert.Equal(t, major(t, server) < 18, strings.Contains(unchecked, table+"_words"), unchecked)
	assert.NotContains(t, unchecked, table+"_id")
	files := map[string]string{}
	for _, table := range tables {
		for _, object := range []string{table, table + "_id", table + "_words"} {
			file := pgtest.Value[string](t, db, "SELECT pg_relation_filepath('"+object+"')")
			files[object+" main"], files[object+" fsm"] = file, file+"_fsm"
		}
	}
	pgtest.Exec(t, db, "CHECKPOINT") // recovery then has no page to write again
	return files
}

func major(t *testing.T, server *localpg.Server) int {
	t.Helper()
	text, _, _ := strings.Cut(server.Version(), ".")
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// flip changes a byte of a page.
func flip(t *testing.T, name string, page int64, row bool, offset int64) {
	t.Helper()
	at := page*8192 + offset
	if row { // 15 bits of the first row's line are its place
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		at += int64(binary.LittleEndian.Uint32(content[page*8192+24:]) & 0x7fff)
	}
	pgtest.Flip(t, name, at)
}

// leftOfDeepCheck counts the extensions and functions that a deep check may have left behind.
const leftOfDeepCheck = `SELECT (SELECT count(*) FROM pg_extension WHERE extname IN ('amcheck', 'pg_prewarm'))
	+ (SELECT count(*) FROM pg_proc WHERE proname = 'ds2_prewarm')`

// deepChecked makes a deep check, and makes sure that progress reaches its end and no extension is left behind.
func deepChecked(t *testing.T, server *localpg.Server, how ...store.DeepReading) store.DeepCheck {
	t.Helper()
	s := open(t, server.URL("postgres"))
	var done, total int64
	tell := func(_ string, d, of int64) { done, total = d, of }
	got, err := s.Can().DeepCheck(t.Context(), append(how, store.DeepReading{})[0], tell)
	require.NoError(t, err)
	if done != total || total == 0 && (got.Log == nil || got.Log.Unread == "") {
		t.Errorf("progress ended at %d of %d", done, total)
	}
	assert.Zero(t, pgtest.Value[int](t, s.DB(), leftOfDeepCheck), "extensions or functions are left behind")
	return got
}

// TestDeepCheckKilled kills ds2 in the middle of a deep check, as far as the server can tell: the connection is gone at
// once, and nobody tidies up. No extension is left behind, and the next check goes on as if nothing had been.
func TestDeepCheckKilled(t *testing.T) {
	const deepChecking = "deep check"
	if target := os.Getenv("DS2_TEST_DEEPCHECK"); target != "" { // the program to be killed
		four := store.DeepReading{Readers: 4}
		_, err := open(t, target).Can().DeepCheck(t.Context(), four, func(string, int64, int64) {
			fmt.Print(deepChecking)
			select {}
		})
		t.Fatal(err)
	}
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	db := open(t, server.URL("postgres")).DB()
	program := exec.Command(os.Args[0], "-test.run", "^TestDeepCheckKilled$")
	program.Env = append(os.Environ(), "DS2_TEST_DEEPCHECK="+server.URL("postgres"))
	out, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	_, err = io.ReadFull(out, make([]byte, len(deepChecking)))
	require.NoError(t, err)
	require.NoError(t, program.Process.Kill())
	program.Wait()
	pgtest.Await(t, db, // the server notices that its client is gone
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'ds2' AND pid <> pg_backend_pid()")
	assert.Zero(t, pgtest.Value[int](t, db, leftOfDeepCheck), "extensions or functions are left behind")
	assert.Empty(t, deepChecked(t, server).Damage, "the next check found")
}

// TestPacedReading reads pages at a rate, by one reader and by several.
func TestPacedReading(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{Checksums: true})
	pgtest.Exec(t, open(t, server.URL("postgres")).DB(),
		"CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 10000)")
	for _, readers := range []int{1, 8} {
		const rate = 10e6
		got := deepChecked(t, server, store.DeepReading{Readers: readers, Rate: rate})
		measured := float64(got.Bytes) / got.Reading.Seconds
		t.Logf("%d readers: %.1f MB/s, %+v", readers, measured/1e6, *got.Reading)
		assert.LessOrEqual(t, measured, 1.1*rate, "%d readers", readers) // a machine that is busy may be slower
	}
}

// TestCheckLog reads the log to its end, compares its bytes with what the server says, and finds a byte that was
// changed.
func TestCheckLog(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	db := open(t, server.URL("postgres")).DB()
	pgtest.Exec(t, db, "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 40000)")
	check := func() *store.LogCheck {
		t.Helper()
		c := deepChecked(t, server, store.DeepReading{Log: true}).Log
		require.NotNil(t, c, "nothing is said of the log")
		return c
	}
	_, err := os.Stat(filepath.Join(server.BinDir(), "pg_waldump"))
	if errors.Is(err, os.ErrNotExist) { // fetched servers have none
		c := check()
		assert.True(t, strings.Contains(c.Unread, "pg_waldump") && c.Records == 0, "without pg_waldump: %+v", c)
		return
	}
	files := pgtest.Value[int64](t, db, `
		SELECT sum(size) FROM pg_ls_waldir() WHERE name <= pg_walfile_name(pg_current_wal_lsn())`)
	whole := check()
	t.Logf("%+v of files of %d", *whole, files)
	assert.Empty(t, whole.Unread+whole.Bad)
	assert.GreaterOrEqual(t, whole.Records, int64(40000))
	assert.True(t, whole.Bytes >= max(40e6, files-16<<20) && whole.Bytes <= files)
	name := pgtest.Value[string](t, db, "SELECT pg_walfile_name(pg_current_wal_lsn() - 20000000)")
	pgtest.Flip(t, filepath.Join(server.DataDir(), "pg_wal", name), 4<<20+100) // within the filler's rows
	damaged := check()
	assert.True(t, damaged.Bad != "" && damaged.Records < whole.Records, "a changed byte in %s: %+v", name, *damaged)
}
