package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/result"
	"ds2/internal/store/sqlserver/servertest"
	"ds2/internal/workload/mailbox"
)

// TestSQLServerCycles kills the server that servertest gives several times under each workload, by
// DS2_TEST_SQLSERVER_KILL, and starts it again by DS2_TEST_SQLSERVER_START: command lines of the shell. Nothing is
// lost; an order or a record that then is taken away is missed by its number.
func TestSQLServerCycles(t *testing.T) {
	kill, start := os.Getenv("DS2_TEST_SQLSERVER_KILL"), os.Getenv("DS2_TEST_SQLSERVER_START")
	if kill == "" || start == "" {
		t.Skip("no SQL Server to kill: set DS2_TEST_SQLSERVER_URL, and DS2_TEST_SQLSERVER_KILL and " +
			"DS2_TEST_SQLSERVER_START to commands that kill it and start it again")
	}
	cycles := 3
	if n, err := strconv.Atoi(os.Getenv("DS2_TEST_KILLS")); err == nil {
		cycles = n
	}
	for _, workload := range []struct {
		name        string
		load, drive string
		take        func(*testing.T, *sql.DB, *result.Record) (number int64) // takes away what the run wrote
		missed      string                                                   // how verify misses it
	}{
		{"ds2", "--size 1MB", "", takeOrder,
			`FAILED  acknowledged purchases that were lost: expected 0, found 1: order\w* %d\b`},
		{"mailbox", "--workload mailbox --mailboxes 10 --mailbox-size 1MB", "--batch 3", takeRecord,
			`FAILED  writes that were lost, [^:]*: expected 0, found 1: record\w* %d\b`},
	} {
		t.Run(workload.name, func(t *testing.T) {
			target := servertest.Database(t)
			babelfish, err := servertest.IsBabelfish(target)
			require.NoError(t, err)
			must(t, words("load --target %s --quiet %s", target, workload.load)...)
			out := filepath.Join(t.TempDir(), "record")
			args := quick("drive", target, "--threads 4 --warmup-time 1s --crash-cycles %d --crash-after 20s "+
				"--recovery-timeout 5m --seed 5 --quiet --out %s %s", cycles, out, workload.drive)
			args = append(args, "--kill-command", kill, "--start-command", start)
			switch {
			case !babelfish:
				args = append(args, "--deep-every", fmt.Sprint(cycles)) // Babelfish has no DBCC
			case workload.name == "mailbox":
				args = append(args, "--lazy", "0") // nor delayed durability
			}
			stdout := must(t, args...)
			record := recordOf(t, out)
			c := record.Cuts
			require.True(t, c != nil && len(c.Cuts) == cycles && record.Audit.Passed,
				"cuts %+v, audit %+v\n%s", c, record.Audit, stdout)
			require.True(t, c.Lost == 0 && c.Lossy == 0 && c.Acknowledged != 0, "cuts %+v\n%s", c, stdout)
			for i, cut := range c.Cuts {
				assert.True(t, cut.Acknowledged != 0 && cut.Recovery > 0 && cut.Kept <= cut.InDoubt,
					"cut %d: %+v", i+1, cut)
			}
			t.Logf("%d cuts, %d acknowledged, %d lost", len(c.Cuts), c.Acknowledged, c.Lost)
			db, err := sql.Open("sqlserver", target)
			require.NoError(t, err)
			defer db.Close()
			number := workload.take(t, db, record)
			stdout, _ = ends(t, exitVerdict, "verify", "--target", target, "--quiet", "--record", out)
			assert.Regexp(t, fmt.Sprintf(workload.missed, number), stdout)
		})
	}
}

// takeOrder takes away the order of the highest number.
func takeOrder(t *testing.T, db *sql.DB, _ *result.Record) (number int64) {
	number = pgtest.Value[int64](t, db, "SELECT MAX(ORDERID) FROM ORDERS")
	for _, table := range []string{"CUST_HIST", "ORDERLINES", "ORDERS"} {
		pgtest.Exec(t, db, fmt.Sprintf("DELETE FROM %s WHERE ORDERID = %d", table, number))
	}
	return number
}

// takeRecord takes away the record of the highest number, which only a run can have inserted.
func takeRecord(t *testing.T, db *sql.DB, run *result.Record) (number int64) {
	var own struct{ Mailboxes int }
	require.NoError(t, run.Parameters.Own.Into(&own))
	shape := mailbox.Shape{Mailboxes: own.Mailboxes, Seed: run.DataSeeds[0]}
	rows, err := db.Query("SELECT message_id FROM messages")
	require.NoError(t, err)
	defer rows.Close()
	var message int64
	for rows.Next() {
		var id int64
		require.NoError(t, rows.Scan(&id))
		if n := int64(shape.Number(id)); n > number {
			number, message = n, id
		}
	}
	require.NoError(t, rows.Err())
	pgtest.Exec(t, db, fmt.Sprintf("DELETE FROM messages WHERE message_id = %d", message))
	return number
}
