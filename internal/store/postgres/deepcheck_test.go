package postgres

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
			// Several readers find the same.
			several := deepChecked(t, server, store.DeepReading{Readers: 4})
			order := func(a, b store.Damage) int {
				return strings.Compare(a.Object+a.Place+a.Found, b.Object+b.Place+b.Found)
			}
			slices.SortFunc(got.Damage, order)
			slices.SortFunc(several.Damage, order)
			if !slices.Equal(got.Damage, several.Damage) || several.Reading.Bad != got.Reading.Bad || several.Reading.Readers != 4 {
				t.Errorf("4 readers found %+v, one found %+v", several, got)
			}
			if c.checksums && (got.Reading.Bad != int64(len(c.damage)) || len(got.Damage) != len(c.damage)) {
				t.Errorf("%d pages are bad, want %d: %+v", got.Reading.Bad, len(c.damage), got.Damage)
			}
			assert.Equal(t, c.checksums, got.Checksums, "the deep check says checksums")
			for _, d := range c.damage {
				if major(t, server) == 13 && d.offset == 22 {
					d.place, d.found = "", "" // it cannot say where a row's header is wrong, only that the table is
				}
				table, _, _ := strings.Cut(d.object, "_")
				if !slices.ContainsFunc(got.Damage, func(g store.Damage) bool {
					return strings.HasPrefix(g.Object, "public."+table) && strings.Contains(g.Place, d.place) && strings.Contains(g.Found, d.found)
				}) {
					t.Errorf("%s %s page %d is not among what was found: %+v", d.object, d.fork, d.page, got.Damage)
				}
			}
		})
	}
}

// fill makes tables with indexes of the two kinds that the workload has, and gives the file of each fork.
func fill(t *testing.T, server *localpg.Server, rows int, tables ...string) map[string]string {
	t.Helper()
	db := open(t, server)
	for _, table := range tables {
		for _, statement := range []string{
			"CREATE TABLE goods (id int, words text)",
			fmt.Sprintf("INSERT INTO goods SELECT n, 'word' || n || repeat(' other', 20) FROM generate_series(1, %d) n", rows),
			"CREATE INDEX goods_id ON goods (id)",
			"CREATE INDEX goods_words ON goods USING gin (to_tsvector('simple', words))",
			"VACUUM goods", // makes the other forks
		} {
			_, err := db.Exec(strings.ReplaceAll(statement, "goods", table))
			require.NoError(t, err, statement)
		}
	}
	got := deepChecked(t, server)
	if len(got.Damage) > 0 || got.Objects < 100 || got.Bytes < 5e6 || got.Reading == nil {
		t.Fatalf("a new database is deep-checked as %+v", got)
	}
	unchecked, table := fmt.Sprint(got.Unchecked), "public."+tables[0]
	if strings.Contains(unchecked, table+"_words") != (major(t, server) < 18) || strings.Contains(unchecked, table+"_id") {
		t.Errorf("version %s did not check %s", server.Version(), unchecked)
	}
	files := map[string]string{}
	for _, table := range tables {
		for _, object := range []string{table, table + "_id", table + "_words"} {
			var file string
			require.NoError(t, db.QueryRow("SELECT pg_relation_filepath($1::text::regclass)", object).Scan(&file))
			files[object+" main"], files[object+" fsm"] = file, file+"_fsm"
		}
	}
	_, err := db.Exec("CHECKPOINT") // recovery then has no page to write again
	require.NoError(t, err)
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

func open(t *testing.T, server *localpg.Server) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", server.URL("postgres"))
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// leftOfDeepCheck counts the extensions and functions that a deep check may have left behind.
const leftOfDeepCheck = "SELECT (SELECT count(*) FROM pg_extension WHERE extname IN ('amcheck', 'pg_prewarm')) + (SELECT count(*) FROM pg_proc WHERE proname = 'ds2_prewarm')"

// deepChecked makes a deep check, and makes sure that progress reaches its end and no extension is left behind.
func deepChecked(t *testing.T, server *localpg.Server, how ...store.DeepReading) store.DeepCheck {
	t.Helper()
	st := openStore(t, server.URL("postgres"))
	var done, total int64
	got, err := st.Can().DeepCheck(t.Context(), append(how, store.DeepReading{})[0], func(_ string, d, of int64) {
		done, total = d, of
	})
	require.NoError(t, err)
	if done != total || total == 0 && (got.Log == nil || got.Log.Unread == "") {
		t.Errorf("progress ended at %d of %d", done, total)
	}
	var extensions int
	if err := st.DB().QueryRow(leftOfDeepCheck).Scan(&extensions); err != nil || extensions > 0 {
		t.Errorf("%d extensions or functions are left behind, %v", extensions, err)
	}
	return got
}

// TestDeepCheckKilled kills ds2 in the middle of a deep check, as far as the server can tell: the connection is gone at
// once, and nobody tidies up. No extension is left behind, and the next check goes on as if nothing had been.
func TestDeepCheckKilled(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	db := open(t, server)
	program := exec.Command(os.Args[0], "-test.run", "^TestDeepCheckToBeKilled$")
	program.Env = append(os.Environ(), "DS2_TEST_DEEPCHECK="+server.URL("postgres"))
	out, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	_, err = io.ReadFull(out, make([]byte, len(deepChecking)))
	require.NoError(t, err)
	require.NoError(t, program.Process.Kill())
	program.Wait()
	left := 1
	for end := time.Now().Add(5 * time.Minute); left > 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		require.NoError(t, db.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ds2'").Scan(&left))
	}
	require.LessOrEqual(t, left, 0, "the server did not notice that its client is gone")
	var extensions int
	if err := db.QueryRow(leftOfDeepCheck).Scan(&extensions); err != nil || extensions > 0 {
		t.Errorf("%d extensions or functions are left behind, %v", extensions, err)
	}
	assert.Empty(t, deepChecked(t, server).Damage, "the next check found")
}

const deepChecking = "deep check"

// TestDeepCheckToBeKilled is the program that TestDeepCheckKilled kills.
func TestDeepCheckToBeKilled(t *testing.T) {
	target := os.Getenv("DS2_TEST_DEEPCHECK")
	if target == "" {
		return // not asked for by TestDeepCheckKilled
	}
	_, err := openStore(t, target).Can().DeepCheck(t.Context(), store.DeepReading{Readers: 4}, func(string, int64, int64) {
		fmt.Print(deepChecking)
		select {} // until killed
	})
	t.Error(err)
}
