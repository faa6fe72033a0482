package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
)

// TestPacedReading reads pages at a rate, by one reader and by several.
func TestPacedReading(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{Checksums: true})
	pgtest.Exec(t, open(t, server), "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 10000)")
	for _, readers := range []int{1, 8} {
		const rate = 10e6
		got := deepChecked(t, server, store.DeepReading{Readers: readers, Rate: rate})
		measured := float64(got.Bytes) / got.Reading.Seconds
		t.Logf("%d readers: %.1f MB/s, %+v", readers, measured/1e6, *got.Reading)
		if measured > 1.1*rate { // a machine that is busy may be slower
			t.Errorf("%d readers read %.1f MB/s, at most 10 were allowed", readers, measured/1e6)
		}
	}
}

// TestCheckLog reads the log to its end, compares its bytes with what the server says, and finds a byte that was
// changed.
func TestCheckLog(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	db := open(t, server)
	pgtest.Exec(t, db, "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 40000)")
	check := func() *store.LogCheck {
		t.Helper()
		c := deepChecked(t, server, store.DeepReading{Log: true}).Log
		require.NotNil(t, c, "nothing is said of the log")
		return c
	}
	if _, err := os.Stat(filepath.Join(server.BinDir(), "pg_waldump")); errors.Is(err, os.ErrNotExist) { // fetched servers have none
		if c := check(); !strings.Contains(c.Unread, "pg_waldump") || c.Records != 0 {
			t.Errorf("without pg_waldump: %+v", c)
		}
		return
	}
	var files int64
	require.NoError(t, db.QueryRow("SELECT sum(size) FROM pg_ls_waldir() WHERE name <= pg_walfile_name(pg_current_wal_lsn())").Scan(&files))
	whole := check()
	t.Logf("%+v of files of %d", *whole, files)
	if whole.Unread != "" || whole.Bad != "" || whole.Records < 40000 || whole.Bytes < 40e6 || whole.Bytes > files || files-whole.Bytes > 16<<20 {
		t.Errorf("%+v of files of %d", *whole, files)
	}
	var name string
	require.NoError(t, db.QueryRow("SELECT pg_walfile_name(pg_current_wal_lsn() - 20000000)").Scan(&name))
	pgtest.Flip(t, filepath.Join(server.DataDir(), "pg_wal", name), 4<<20+100) // within the filler's rows
	if damaged := check(); damaged.Bad == "" || damaged.Records >= whole.Records {
		t.Errorf("a changed byte in %s was not found: %+v", name, *damaged)
	}
}
